# cyclictest beside this tree's own latency: cyclictest.sh LOOPS.
echo "cyclictest $(cyclictest -q -p 80 -i 1000 -l "$1" 2> /dev/null | sed -n 's/^T: 0.* C: *\([0-9]*\) Min: *\([0-9]*\) .*Avg: *\([0-9]*\) Max: *\([0-9]*\).*/\1 \2 \3 \4/p')"
echo "latency $(latency -q -p 80 -i 1000 -l "$1" | sed -n 's/^T: 0.* C: *\([0-9]*\) Min: *\([0-9]*\) .*Avg: *\([0-9]*\) Max: *\([0-9]*\).*/\1 \2 \3 \4/p')"
