# The guests of tests/guest/kprobes/test_uprobes.py run these parts.

#: refused: What may not be probed: among others $SYSCALL, a system call's place, and a counter for $PLAIN.
try() { insmod /uprobe_sample.ko $* 2>&1; }
try path=/bin/uprobed offset=99999999; try path=/bin/uprobed offset=$SYSCALL; try path=/bin offset=0
try path=/no/file; try path=/bin/uprobed offset=$PLAIN counter=3
try path=/proc/version
ls /proc/uprobe_sample 2>/dev/null; true

#: storm: Probes come and go while four processes are in the probed functions, and others begin, fork and end. A probe
# that has gone stays away while the next batch is there: so a process that met its breakpoint finds it gone.
for i in 1 2 3 4; do uprobed busy & done
insmod /uprobe_walk.ko path=/bin/uprobed ms=1 batch=2 rounds=400 returns=1
while ! grep -q done /proc/uprobe_walk; do uprobed forks execs depth; done | sort | uniq -c | grep -v ok
cat /proc/uprobe_walk; >/stop; wait; echo all; rmmod uprobe_walk; uprobed forks execs depth

#: events: Definitions, records, profiles, filters, the end of an event. $PLAIN and $DEPTH are functions (hexadecimal), $WORD
# leads to a text that the program has, $ARGUMENT is the register of the first argument.
echo "p:plain /bin/uprobed:0x$PLAIN n=$ARGUMENT:u64 name=+0(@+0x$WORD):ustring" > uprobe_events
echo "r /bin/uprobed:$((0x$DEPTH)) ret=\$retval:s32" >> uprobe_events; echo "p /bin/uprobed:$((0x$DEPTH))%return ret=\$retval:s32" >> dynamic_events 2>/dev/null || echo twice
cat uprobe_events; echo ---
echo 1 > events/uprobes/plain/enable; uprobed tail >/dev/null; echo 0 > events/uprobes/plain/enable
grep -v '^#' trace; echo > trace; echo --- ; echo 1 > events/uprobes/p_uprobed_0x$DEPTH/enable
uprobed depth >/dev/null; grep -c 'ret=' trace; grep 'ret=' trace | head -n 10; echo ---
echo 0 > events/uprobes/p_uprobed_0x$DEPTH/enable; cat uprobe_profile; echo ---; echo > trace
echo "p:ours/far /bin/uprobed:$((0x$PLAIN)) bytes=+0($ARGUMENT):x8[4]" >> uprobe_events; echo 1 > events/ours/enable
uprobed untouched >/dev/null; grep -o 'bytes=.*' trace; echo 0 > events/ours/enable; echo '-:ours/' >> uprobe_events; echo > trace
echo 'n > 17' > events/uprobes/plain/filter; echo 1 > events/uprobes/enable; uprobed tail >/dev/null; grep -c plain: trace
echo '-:plain' >> uprobe_events 2>/dev/null; echo $?
echo 0 > events/uprobes/enable; echo '-:plain' >> uprobe_events; wc -l < uprobe_events; echo > uprobe_events; wc -l < dynamic_events; ls events/uprobes 2>&1 | wc -l

#: sh: The shell's instructions are probed while it runs /script: what that prints stays the same.
want="$(sh /script)"; echo "$want" | head -n 3
insmod /uprobe_walk.ko path=/bin/sh ms=400 batch=200
while ! grep -q done /proc/uprobe_walk; do test "$(sh /script)" = "$want" || exit 2; done
cat /proc/uprobe_walk; rmmod uprobe_walk; test "$(sh /script)" = "$want"; echo $?
