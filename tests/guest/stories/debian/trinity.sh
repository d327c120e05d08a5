# Random system calls of trinity, as nobody, on four processes: trinity.sh CALLS [SEED]. Its main process does not always
# live to the end, since its children write over its memory, too: rounds of 50,000 calls go on until there are enough.
# Its list of sockets is left out: it dies of an address of its own where there are few families of sockets.
# The last line: calls that were made, rounds, processes of nobody that are left, and KiB of memory that are missing.
memory() { sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo; }
mkdir -m 777 /tmp/fuzz
mkfifo /run/fuzz
before=$(memory) made=0 round=0 seed=${2:-1}
while [ "$made" -lt "$1" ]; do
	part=$(($1 - made))
	[ "$part" -le 50000 ] || part=50000
	cd /tmp/fuzz || exit 1
	grep -a 'iterations\|Ran ' < /run/fuzz > /run/said &
	chroot --userspec=65534:65534 --groups= --skip-chdir / \
		trinity -q -C 4 -N "$part" -s $((seed + round)) -l off --disable-fds=sockets > /run/fuzz 2>&1
	pkill -KILL -U 65534
	wait
	now=$(sed -n 's/.*Ran \([0-9]*\) syscalls.*/\1/p; s/.*\] \([0-9]*\) iterations.*/\1/p' /run/said | sort -n | tail -n 1)
	made=$((made + ${now:-0})) round=$((round + 1))
	echo "round $round, seed $((seed + round - 1)): ${now:-0}"
	cd /
	rm -rf /tmp/fuzz/* 2> /dev/null
	[ "$round" -lt $(($1 / 5000 + 10)) ] || break
done
sleep 1
echo "made $made rounds $round left $(pgrep -U 65534 | wc -l) missing $((before - $(memory)))"
