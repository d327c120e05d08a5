# The options that change the lines of those arrays.
for o in proc abstime retval tail overrun; do echo 1 > options/funcgraph-$o; done
echo 0 > options/funcgraph-irqs
for o in record-tgid sym-offset sym-addr; do echo 1 > instances/f/options/$o; done
echo 1 > instances/g/events/sched/enable; echo 1 > instances/g/tracing_on; sleep 0.1; echo 0 > instances/g/tracing_on
echo 1 > instances/f/tracing_on; sleep 0.1; echo 0 > instances/f/tracing_on
