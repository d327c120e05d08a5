# Linux's tests, one after the other. Those of aarch64's signals look at more of the stack above a signal's frame than a
# short environment leaves.
cd /st
long=0123456789abcdef
for n in 1 2 3 4 5 6 7 8 9; do long=$long$long; done
export LONG=$long
for test in *; do
	timeout 60 ./$test > /tmp/out 2>&1
	echo "=== $test $?"
	cat /tmp/out
	echo
done
