# Values that functions return, decimal and hexadecimal; pids; arguments; interrupts.
echo sys_openat ksys_openat do_sys_open sys_open sys_access sys_faccessat sys_newstat sys_newfstatat > set_ftrace_filter 2>/dev/null
echo 'sys_*' > set_ftrace_filter; echo $$ > set_ftrace_pid; echo function_graph > current_tracer
echo 1 > options/funcgraph-retval; echo 1 > options/funcgraph-proc; echo 1 > tracing_on; test -e /nowhere; ls / > /dev/null
echo 0 > tracing_on; echo '== decimal'; cat trace; echo 1 > options/funcgraph-retval-hex; echo '== hex'; cat trace; echo "== pid $$"
echo 0 > options/funcgraph-retval; echo 0 > options/funcgraph-proc; echo > set_ftrace_pid; echo plant_recurse > set_ftrace_filter
echo 1 > options/funcgraph-args 2> /dev/null; echo > trace; echo 1 > tracing_on; echo 3 > /sys/kernel/debug/fgraph/recurse
echo 0 > tracing_on; echo '== args'; cat trace; echo 0 > options/funcgraph-args; echo > set_ftrace_filter
echo 0 > options/funcgraph-irqs; for name in hrtimer_interrupt ''; do echo $name > set_graph_function; echo > trace
echo 1 > tracing_on; sleep 0.02; echo 0 > tracing_on; echo "== interrupts $name"; cat trace; done
