# Inits of modules are initcalls as well, with and without context, and by another clock.
cd /sys/kernel/tracing; echo initcall > current_tracer; show() { sed 's/^/|/' trace; echo ==; }
insmod /hello_1.ko; rmmod hello_1; insmod /hello_5.ko count=-1 2> /dev/null; echo mark > trace_marker
show; echo nocontext-info > trace_options; show; echo context-info > trace_options
echo counter > trace_clock; insmod /hello_2.ko; show; rmmod hello_2; echo local > trace_clock
echo nop > current_tracer; insmod /hello_2.ko; rmmod hello_2; show
