#!/bin/sh
# description: the events of system calls: raw and by name, with true numbers, arguments and results, also of those that end in unusual ways
# requires: smp=2 icount progs="callevents"
. /run/prelude
tracing_reset
raw=events/raw_syscalls

# As Linux has them on this machine. `born`: the first event of a new task.
if test $(uname -m) = x86_64; then
	openat=257 lseek=8 getppid=110 close=3 read=0 clone=56 execve=59 exit_group=231 sigreturn=15
	born="sys_exit: NR $clone = 0;"
else
	openat=56 lseek=62 getppid=173 close=57 read=63 clone=220 execve=221 exit_group=94 sigreturn=139
	born=
fi

# run: the program, its events in /tmp/trace, `name pid status` of its cases in /tmp/cases
run() {
	echo > trace
	callevents > /tmp/cases
	cat trace > /tmp/trace
}

# events_of CASE: what its process did, without columns
events_of() {
	pid=$(grep "^$1 " /tmp/cases | cut -d ' ' -f 2)
	grep -E -- "-$pid +\[00[01]\]" /tmp/trace | grep -o 'sys_.*'
}

# has CASE LINES: these events follow each other there, nothing in between
has() {
	events_of "$1" | tr '\n' ';' | grep -qE "$2" || fail "$1: no $2 in $(events_of "$1")"
}

# -- all, by number
same 'off' 0 "$(cat $raw/enable)"
echo 1 > $raw/enable
same 'first, the end of the write' "sys_exit" "$(grep -v '^#' trace | head -n 1 | grep -o 'sys_[a-z]*')"
run
echo 0 > $raw/enable
same 'exit status' '0 0 0 0 1792 0' "$(echo $(cut -d ' ' -f 3 /tmp/cases))"
grep -E 'sys_(enter|exit): ' /tmp/trace | grep -vE '\] \.[.N]\.\.\. +[0-9.]+: sys_(enter: NR -?[0-9]+ \([0-9a-f, ]+\)|exit: NR -?[0-9]+ = -?[0-9]+)$' &&
	fail 'they look different'
six='11, 22, 33, 44, 55, 66'
has unknown "sys_enter: NR 9999 \($six\);sys_exit: NR 9999 = -38;sys_enter: NR -1 \($six\);sys_exit: NR -1 = -38;"
has handler "sys_enter: NR $sigreturn \([^;]*;sys_exit: NR -1 = 0;"
has restarted "sys_enter: NR $read \([^;]*;sys_exit: NR $read = -512;sys_enter: NR $sigreturn [^;]*;sys_exit: NR -1 = [^;]*;sys_enter: NR $read \([^;]*;sys_exit: NR $read = 1;"
has forked "^${born}sys_enter: NR $clone \([^;]*;sys_exit: NR $clone = [1-9][0-9]*;"
has forked "sys_enter: NR $exit_group \(0, [^;]*;$"
has executed "sys_enter: NR $execve \([^;]*;sys_exit: NR $execve = 0;sys_enter: NR $exit_group \(7, [^;]*;$"
has arguments "sys_enter: NR $openat \(f+9c, [0-9a-f]+, 42, 1a2, 0, 0\);sys_exit: NR $openat = 3;"
has arguments "sys_enter: NR $lseek \(3, 1234567890, 0, 0, 0, 0\);sys_exit: NR $lseek = 78187493520;"
has arguments "sys_enter: NR $close \(4d, 0, 0, 0, 0, 0\);sys_exit: NR $close = -9;"
same 'a filter' '' "$(
	echo "id == $getppid" > $raw/filter
	echo 1 > $raw/enable
	run
	echo 0 > $raw/enable
	echo 0 > $raw/filter
	grep 'sys_e' /tmp/trace | grep -v " NR $getppid ")"
test $(grep -c " NR $getppid " /tmp/trace) -ge 2 || fail 'the filter let nothing pass'
echo > trace
callevents > /dev/null
same 'none while they are off' '' "$(grep -v '^#' trace)"
tracing_reset
finish
