#!/bin/sh
# What the kernel does when a program writes a file: each function that it calls, how they are nested, how long each takes.
cd /sys/kernel/tracing
echo 0 > tracing_on
echo 0 > options/funcgraph-irqs
echo vfs_write > set_graph_function
echo function_graph > current_tracer
echo 1 > tracing_on
echo hello > /tmp/file
echo 0 > tracing_on
grep -v '^#' trace | head -40
