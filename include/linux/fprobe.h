/* Calls at the entry and the return of functions (fprobes). A handler must not sleep. */
#pragma once

#include <linux/ptrace.h>
#include <linux/types.h>
#include <trace/fprobe.h>
