#!/bin/sh
# description: hw-branch-tracer: lines of 2.6.30, windows, sections of set_graph_function, beside ksym_tracer's breakpoints
# requires: icount timeout=240
# requires: rooms="procfs samples refusals"
. /run/prelude
tracing_reset
cpus=$(grep -c ^processor /proc/cpuinfo)

# branches: lines of the trace that are no comment
branches() {
	grep -v '^#' trace
}

# The printed form, of each line.
symbol='([A-Za-z_][A-Za-z0-9_.]*\+0x[0-9a-f]+/0x[0-9a-f]+|0x[0-9a-f]+)'
tab="$(printf '\t')"
echo 3000 > hw_branch_window
holds "the window" hw_branch_window 3000
echo hw-branch-tracer > current_tracer
for n in 1 2 3 4 5 6 7 8; do read -r x < /proc/uptime; done
echo 0 > tracing_on
same header "# tracer: hw-branch-tracer
#
# CPU#        TO  <-  FROM" "$(head -n 3 trace)"
branches | grep -v -E "^   [0-9]  $symbol$tab  <-  $symbol$" | grep -q . && fail "$(branches | grep -v -E "^   [0-9]  $symbol$tab  <-  $symbol$" | head -n 1)"
test $(branches | wc -l) -gt 100 || fail "only $(branches | wc -l) branches"

# A window ends by itself: nothing comes any more.
echo 1 > tracing_on
echo nop > current_tracer
echo hw-branch-tracer > current_tracer
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do read -r x < /proc/uptime; done
sleep 0.1
before=$(branches | wc -l)
for n in 1 2 3 4 5 6 7 8; do read -r x < /proc/uptime; done
same "branches after the window" $before $(branches | wc -l)
echo nop > current_tracer
{ echo x > hw_branch_window; } 2> /dev/null && fail "a window of x was taken"
{ echo -1 > hw_branch_window; } 2> /dev/null && fail "a window of -1 was taken"
holds "the window" hw_branch_window 3000

# Sections: from the entry of a function to its return, each call of it, and nothing else.
echo 100000 > hw_branch_window
echo panic_show > set_graph_function
echo hw-branch-tracer > current_tracer
for n in 1 2 3; do cat /proc/sys/kernel/panic > /dev/null; done
echo 0 > tracing_on
same "calls" 3 $(branches | grep -c 'seq_printf+0x0/.*<-  panic_show+')
same "returns" 3 $(branches | grep -c 'text_file_show+.*<-  panic_show+')
branches | tail -n 1 | grep -q '<-  panic_show+' || fail "the last branch: $(branches | tail -n 1)"
grep -q 'section_enter' trace && fail "the hook is in the trace"
echo 1 > tracing_on
echo nop > current_tracer
# A function that sleeps, in two tasks: a section follows its task, and the other's switches are not in it.
echo pipe_read > set_graph_function
echo hw-branch-tracer > current_tracer
{ sleep 0.01; echo x; } | cat > /dev/null &
{ sleep 0.02; echo x; } | cat > /dev/null
wait
echo 0 > tracing_on
grep -q '__schedule+' trace || fail "pipe_read did not sleep"
grep -q 'do_idle+' trace && fail "idle is in a section: $(grep 'do_idle+' trace | head -n 1)"
echo nop > current_tracer
echo > set_graph_function
echo 1 > tracing_on

# On x86_64 a CPU with breakpoints is not stepped. A call meanwhile takes no place, and later ones are whole.
if test $(uname -m) = x86_64; then
	echo panic_timeout:rw- > ksym_trace_filter
	{ echo hw-branch-tracer > current_tracer; } 2> /dev/null && fail 'selected beside a breakpoint'
	holds 'refused' current_tracer nop
	same 'the reason' 'current_tracer: a CPU with hardware breakpoints (ksym_tracer) cannot be stepped' \
		"$(dmesg | tail -n 1 | sed 's/^\[[^]]*\] //')"
	echo panic_show > set_graph_function
	echo hw-branch-tracer > current_tracer
	for n in $(seq 70); do cat /proc/sys/kernel/panic > /dev/null; done
	same 'stepped beside a breakpoint' 0 $(branches | wc -l)
	echo 0 > ksym_trace_filter
	for n in 1 2; do cat /proc/sys/kernel/panic > /dev/null; done
	echo 0 > tracing_on
	same 'calls afterwards' 2 $(branches | grep -c 'seq_printf+0x0/.*<-  panic_show+')
	same 'from others' 0 $(branches | grep -c 'do_idle+')
	echo 1 > tracing_on
	echo nop > current_tracer
	echo > set_graph_function
fi

# Breakpoints beside it, which a stepped CPU of x86_64 does not have: each access is reported once, also those that a step passes over.
H=/sys/kernel/debug/hw_breakpoint
echo 20000 > hw_branch_window
echo 5000 > buffer_size_kb
test $(uname -m) = aarch64 || finish
# A window may end anywhere in the function that loads the registers: no step is left over.
echo arch_hw_breakpoints_load > set_graph_function
for window in $(seq 10 5 200); do
	echo $window > hw_branch_window
	echo hw-branch-tracer > current_tracer
	echo ksym_target:rw- > ksym_trace_filter
	echo nop > current_tracer
	echo 0 > ksym_trace_filter
done
dmesg | grep -q Oops && fail "the end of a window: $(dmesg | grep Oops)"
echo > set_graph_function
echo 20000 > hw_branch_window
for access in read write atomic cmpxchg; do
	echo ksym_target:rw- > ksym_trace_filter
	echo hw-branch-tracer > current_tracer
	echo 40 > $H/$access
	echo nop > current_tracer
	same "40 times $access, stepped" 40 "$(grep ' ksym_target ' ksym_profile | tr -s ' ' | cut -d ' ' -f 4)"
	echo 0 > ksym_trace_filter
	echo 1 > $H/write # it is 0 now, what the last cmpxchg wants
	echo ksym_target:-w- > ksym_trace_filter
	echo hw-branch-tracer > current_tracer
	echo 40 > $H/$access
	echo 0 > tracing_on
	hits="$(grep ' ksym_target ' ksym_profile | tr -s ' ' | cut -d ' ' -f 4)"
	test $access = read && wanted=0 || wanted=40
	test $access = cmpxchg && test $(uname -m) = aarch64 && wanted=1
	same "40 times $access, stepped: writes" $wanted "$hits"
	test $(branches | grep -c "<-  ksym_$access+") -ge 40 || fail "ksym_$access is not in the trace"
	echo 1 > tracing_on
	echo nop > current_tracer
	echo 0 > ksym_trace_filter
done
echo hw-branch-tracer > current_tracer
same "calls of a watched function, stepped" "executed: 40, elsewhere: 0, error: 0" "$(echo 40 > $H/execute; cat $H/execute)"
echo nop > current_tracer
echo 1000000 > hw_branch_window
finish
