#!/bin/sh
# description: what the tracing files answer to wrong input, errno for errno as Linux does
# requires: smp=2 append="loglevel=5" progs="errno"
# requires: rooms="samples commands"
cd /sys/kernel/tracing
e() { errno "$@"; }
echo '-- tracer'
e current_tracer nosuchtracer
e current_tracer ''
e current_tracer 'function extra'
cat current_tracer
echo '-- filters, open at close'
e set_ftrace_filter nosuch_function
e -a set_ftrace_filter 'nosuch_function*'
e set_ftrace_filter schedule:nosuchcmd
e set_ftrace_filter schedule:traceoff:x
cat set_ftrace_filter
echo '-- filters, complete'
e set_ftrace_filter 'nosuch_function\n'
e set_ftrace_filter 'nosuch*\n'
e set_ftrace_filter 'schedule:nosuchcmd\n'
e set_ftrace_filter 'schedule:traceoff:x\n'
e set_ftrace_filter 'nosuchfn:traceoff\n'
e set_ftrace_filter 'schedule:enable_event:nosuch:event\n'
e set_ftrace_filter 'schedule vfs_read\n'
cat set_ftrace_filter
e -a set_ftrace_filter '!vfs_*\n'
e set_ftrace_notrace 'nosuch_function\n'
e set_ftrace_filter '\n'
e -n set_ftrace_filter
e -n set_graph_function
cat set_ftrace_filter set_ftrace_notrace
echo '-- sizes'
echo 51 > buffer_size_kb # 13 pages of 4,080 bytes
e buffer_size_kb 0
e buffer_size_kb abc
e buffer_size_kb -1
e buffer_size_kb ''
e buffer_size_kb 99999999999
e buffer_size_kb 1000000000000
e buffer_size_kb 4000000
e buffer_size_kb x
e per_cpu/cpu1/buffer_size_kb 0
e per_cpu/cpu1/buffer_size_kb 99999999999
cat buffer_size_kb
echo '-- switches'
e tracing_on 2
e tracing_on abc
e tracing_enabled x
e options/overwrite 2
e options/overwrite x
e trace_options nosuchoption
e trace_options ''
e trace_options no
e trace_options nonoraw
e trace_options 'raw hex'
e trace_options test_nop_refuse
e options/test_nop_refuse 1
e options/raw -1
e options/raw ''
e options/stacktrace 2
e options/record-tgid ''
e trace_options 'stacktrace x'
e trace_options nonostacktrace
e /sys/kernel/debug/trace_printk/hello nobody
e /sys/kernel/debug/trace_printk/hello 'task task'
cat options/stacktrace options/record-tgid
e latency_trace x
e latency_trace ''
e trace_clock nosuchclock
e tracing_cpumask f0
e tracing_cpumask xyz
e set_ftrace_pid abc
e set_ftrace_pid -5
e set_ftrace_pid -1
e set_ftrace_pid 32768
e set_ftrace_notrace_pid 12x
cat tracing_on tracing_cpumask set_ftrace_pid
echo '-- snapshots and latencies'
e -w snapshot x
e -w snapshot ''
e -w snapshot -1
e -w snapshot 1x
e -w snapshot 18446744073709551616
e -w per_cpu/cpu0/snapshot 0
e -w per_cpu/cpu1/snapshot -2
grep '^# \*' snapshot
echo 99 > tracing_max_latency
e tracing_max_latency -1
e tracing_max_latency abc
e tracing_max_latency ''
e tracing_max_latency '1 2'
e tracing_max_latency 0x10
e tracing_max_latency 18446744073709551615
e tracing_max_latency 18446744073709551616
e tracing_thresh -1
e tracing_thresh 1us
e tracing_thresh ''
e tracing_thresh 18446744073709551616
cat tracing_max_latency tracing_thresh
echo irqsoff > current_tracer
e -w snapshot 0
e -w snapshot 1
e -w snapshot 2
e -w snapshot x
e -w per_cpu/cpu0/snapshot 1
e -r snapshot
e -r per_cpu/cpu1/snapshot
e trace_options nooverwrite
cat current_tracer options/overwrite
echo nop > current_tracer
echo '-- what is not to be written'
e available_tracers x
e -w available_filter_functions x
e -w README x
e -w saved_cmdlines x
e -w saved_tgids x
e -w per_cpu/cpu0/stats x
e -w dyn_ftrace_total_info x
e -w enabled_functions x
e -w buffer_total_size_kb x
e -w trace_pipe x
e -r trace_marker
echo '-- what is not to be made or removed'
e -o newfile
e -o options/newoption
e -m newfolder
e -m per_cpu/cpu9
e -u trace
e -d options
e -d per_cpu
