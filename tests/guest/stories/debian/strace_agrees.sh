# strace -f of a pipeline of the shell, with the kernel's events of the same calls beside: into /host, for the test to
# compare.
cd /sys/kernel/tracing || exit 1
echo 16384 > buffer_size_kb
echo 1 > events/syscalls/enable
strace -f -ff -o /tmp/calls sh -c 'echo a b c | tr " " "\n" | sort -r | head -n 2 | while read x; do echo "<$x>"; done
	grep -c root /etc/passwd; trap "echo told" USR1; sleep 0.1 & kill -USR1 $$ 2> /dev/null & wait; wait' > /tmp/printed
echo $?
echo 0 > events/syscalls/enable
cat /tmp/printed
cp trace /host/trace
cp /tmp/calls.* /host
