# A program under sysprof, a sample each $PERIOD microseconds.
cd /sys/kernel/tracing
echo $PERIOD > sysprof_sample_period
profile $ROUNDS
grep profile trace | head -n 200
