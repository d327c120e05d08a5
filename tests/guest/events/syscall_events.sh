#!/bin/sh
# description: the events of system calls: raw and by name, with true numbers, arguments and results, also of those that end in unusual ways
# requires: smp=2 icount progs="callevents"
# requires: rooms="procfs instances syscalls"
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
same 'exit status' '0 0 0 0 1792 0 0' "$(echo $(cut -d ' ' -f 3 /tmp/cases))"
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

# -- each by name
calls=events/syscalls
same 'a beginning and an end each' "$(grep -c ^syscalls:sys_enter_ available_events)" "$(grep -c ^syscalls:sys_exit_ available_events)"
test $(grep -c ^syscalls:sys_enter_ available_events) -gt 140 || fail 'there are few'
for call in newfstat newfstatat newuname umount sendfile64 mmap clone clone3 set_tid_address exit_group rt_sigreturn; do
	test -d $calls/sys_exit_$call || fail "no sys_exit_$call"
done
grep '^	*field:' $calls/sys_enter_openat/format | tail -n 5 > /tmp/fields
cat > /tmp/wanted << 'END'
	field:int __syscall_nr;	offset:8;	size:4;	signed:1;
	field:int dfd;	offset:16;	size:8;	signed:0;
	field:const char * filename;	offset:24;	size:8;	signed:0;
	field:int flags;	offset:32;	size:8;	signed:0;
	field:umode_t mode;	offset:40;	size:8;	signed:0;
END
same 'fields' "$(cat /tmp/wanted)" "$(cat /tmp/fields)"
same 'print fmt' 'print fmt: "dfd: 0x%08lx, filename: 0x%08lx, flags: 0x%08lx, mode: 0x%08lx", ((unsigned long)(REC->dfd)), ((unsigned long)(REC->filename)), ((unsigned long)(REC->flags)), ((unsigned long)(REC->mode))' \
	"$(tail -n 1 $calls/sys_enter_openat/format)"
same 'print fmt without arguments' 'print fmt: ""' "$(tail -n 1 $calls/sys_enter_getppid/format)"
same 'print fmt of an end' 'print fmt: "0x%lx", REC->ret' "$(tail -n 1 $calls/sys_exit_openat/format)"
echo 'syscalls:*' > set_event
same 'all' "$(grep -c ^syscalls: available_events)" "$(grep -c . set_event)"
holds 'all' $calls/enable 1
echo '!sys_exit_vfork' >> set_event 2> /dev/null # aarch64 has none
echo '!sys_exit_setsid' >> set_event
holds 'all but one' $calls/enable X
run
echo > set_event
holds 'none' $calls/enable 0
same 'no number' "sys_exit_group(error_code: 0);" "$(events_of unknown | grep -v '^sys_clone' | tr '\n' ';')"
has handler "sys_rt_sigreturn\(\);sys_exit_group"
has restarted "sys_read\(fd: 3, [^;]*;sys_read -> 0xfffffffffffffe00;sys_rt_sigreturn\(\);sys_read\(fd: 3, [^;]*, count: 1\);sys_read -> 0x1;"
has forked "sys_clone\(clone_flags: 11, newsp: 0, [^;]*;sys_clone -> 0x[0-9a-f]+;sys_wait4\(upid: "
has executed "sys_execve\(filename: [0-9a-f]+, argv: [0-9a-f]+, envp: [0-9a-f]+\);sys_execve -> 0x0;sys_exit_group\(error_code: 7\);$"
has arguments "sys_openat\(dfd: ffffffffffffff9c, filename: [0-9a-f]+, flags: 42, mode: 1a2\);sys_openat -> 0x3;"
has arguments "sys_lseek\(fd: 3, offset: 1234567890, whence: 0\);sys_lseek -> 0x1234567890;"
has arguments "sys_getppid\(\);sys_getppid -> 0x[0-9a-f]+;sys_close\(fd: 3\);sys_close -> 0x0;sys_close\(fd: 4d\);sys_close -> 0xfffffffffffffff7;"
if test $(uname -m) = x86_64; then
	has older 'sys_open\(filename: [0-9a-f]+, flags: 0, mode: 0\);sys_open -> 0x3;sys_newlstat\(filename: [0-9a-f]+, statbuf: 0\);sys_newlstat -> 0xfffffffffffffff2;sys_vfork\(\);'
	grep 'sys_vfork -> ' /tmp/trace && fail 'an event that was off'
else
	has arguments 'sys_exit_group'
	grep -E 'sys_(open|newlstat|vfork)\(' /tmp/trace && fail 'calls that this machine does not have'
fi

# -- one here, another in an instance, with a filter
mkdir instances/calls
echo 1 > $calls/sys_enter_close/enable
echo 1 > instances/calls/$calls/sys_exit_close/enable
echo 1 > instances/calls/$calls/sys_enter_lseek/enable
echo 'offset == 0x1234567890 && whence != 1' > instances/calls/$calls/sys_enter_lseek/filter
echo 'fd > 70 && fd < 100' > $calls/sys_enter_close/filter
run
same 'one, filtered' 'sys_close(fd: 4d)' "$(grep -o 'sys_.*' /tmp/trace)"
same 'of the instance' 'sys_close ->;sys_lseek(fd: 3, offset: 1234567890, whence: 0);' \
	"$(grep -oE 'sys_(lseek.*|[^l].* ->)' instances/calls/trace | sort -u | tr '\n' ';')"
echo 1 > options/verbose
grep -q 'sys_close(unsigned int fd: 4d)$' trace || fail 'verbose shows no types'
echo 0 > options/verbose
echo 1 > options/stacktrace
echo 0 > $calls/sys_enter_close/filter
run
echo 0 > options/stacktrace
grep -A 2 'sys_close' /tmp/trace | grep -q '^ => syscall_trace_enter$' || fail 'the stack does not begin at the event'
echo > set_event
echo > trace
callevents > /dev/null
same 'none while they are off' '' "$(grep -v '^#' trace)"
test $(grep -c 'sys_close -> ' instances/calls/trace) -gt 10 || fail 'the instance lost its events'
rmdir instances/calls
tracing_reset
finish
