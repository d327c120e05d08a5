# Accesses of the HPET, which is the clock.
cd /sys/kernel/tracing
echo 8192 > buffer_size_kb
echo mmiotrace > current_tracer
for n in 1 2 3; do sleep 0.01; done
echo 0 > tracing_on
grep -E '^(MAP|R)' trace | grep -i 0xfed00 | head -n 400
echo nop > current_tracer
