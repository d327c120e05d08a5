# Modules with events and with probes come and go, $1 times, under function_graph, the function tracer and readers.
# Afterwards the kernel has what it had before: objects of each slab cache, pages, call sites, names, events.
. /run/prelude
dmesg -n 1 # what the probes say, 3 lines a round, need not be shown
tracing_reset
ROUNDS=$1
MODULES='trace_events_sample tracepoint_sample tracepoint_probe_sample'

# choose: the functions that are traced are those of two modules, which are to come
choose() {
	echo ':mod:tracepoint_sample' > instances/f/set_ftrace_filter
	echo ':mod:trace_events_sample' > set_ftrace_filter
}

# round: all of them are loaded, used and unloaded
round() {
	choose
	for module in $MODULES; do
		insmod /$module.ko || fail "insmod $module"
	done
	echo 1 > events/sample/enable
	echo 1 > instances/f/events/sample/enable
	echo ab > /sys/module/trace_events_sample/parameters/say
	cat /proc/tracepoint-sample 2> /dev/null
	rmmod tracepoint_probe_sample tracepoint_sample trace_events_sample || fail rmmod
}

# reader COMMAND...: again and again, until the file /tmp/stop is there
reader() {
	until [ -e /tmp/stop ]; do
		"$@"
	done > /dev/null 2>&1
}

# rounds N: so many, with readers beside them
rounds() {
	rm -f /tmp/stop
	reader cat trace available_filter_functions set_ftrace_filter available_events &
	reader cat instances/f/trace /proc/kallsyms /proc/modules &
	reader timeout 1 cat instances/f/trace_pipe &
	done=0
	while [ $done -lt $1 ]; do
		round
		done=$((done + 1))
	done
	touch /tmp/stop
	wait
}

# known: call sites, names, names of modules, events, folders of events
known() {
	wc -l < available_filter_functions
	wc -l < /proc/kallsyms
	grep -c '\]$' /proc/kallsyms
	wc -l < available_events
	ls events instances/f/events | wc -l
	cat /proc/modules
}

mkdir instances/f
echo function > instances/f/current_tracer
echo 1 > instances/f/events/module/enable
choose
echo function_graph > current_tracer
rounds 12
settled
remember_memory
known > /tmp/known.before
rounds $ROUNDS
known > /tmp/known
same 'what is known' "$(cat /tmp/known.before)" "$(cat /tmp/known)"
left_over
same "left after $ROUNDS rounds" '' "$left"
measured="slabs $(meminfo Slab) kB; free, in slabs and stacks: $pages_before kB before, $pages kB afterwards"
# Records of a module's events go with it; those of its functions, and of the kernel's events about it, stay.
choose
insmod /trace_events_sample.ko && rmmod trace_events_sample
grep -q 'sample_init.*\[trace_events_sample\]' trace || fail 'no function of the module is in the trace'
grep -q 'module_free: trace_events_sample' instances/f/trace || fail 'no event of the module is in the trace'
rmdir instances/f
tracing_reset
returns_are_whole
echo "$measured"
finish
