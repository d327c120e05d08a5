/* A callback at the entry of functions. unregister_ftrace_function() waits for callbacks that run. */
#pragma once

#include <linux/kallsyms.h>
#include <linux/ptrace.h>
#include <trace/ftrace.h>
#include <trace/trace_printk.h>
