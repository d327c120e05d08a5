# Arrays in several states: all kinds of records, both forms of text, lost records.
cd /sys/kernel/tracing; echo 8 > buffer_size_kb; mkdir instances/f instances/g instances/s instances/e
for i in f g s e; do echo 8 > instances/$i/buffer_size_kb; done; echo counter > instances/s/trace_clock
echo function > instances/f/current_tracer; echo 0 > instances/f/tracing_on
echo function_graph > instances/g/current_tracer; echo hallo > instances/g/trace_marker; echo 0 > instances/g/tracing_on
echo sched_switch > instances/s/current_tracer; echo 1 > instances/s/options/stacktrace
echo 0 > instances/s/options/irq-info
for e in lab sched/sched_switch syscalls/sys_enter_write syscalls/sys_exit_write; do echo 1 > instances/e/events/$e/enable; done
echo 1 > instances/e/events/kmem/kmalloc/enable; echo 1 > instances/e/events/irq/softirq_entry/enable
echo "5 hello" > ../debug/lab/step; ls > /dev/null; echo 0 > instances/e/tracing_on
for c in task puts irq softirq; do echo $c > ../debug/trace_printk/hello; done
echo hallo > trace_marker; echo nix > trace_marker
printf '\001\000\000\000abc' > trace_marker_raw; sleep 0.1; echo 0 > tracing_on; echo 0 > instances/s/tracing_on
