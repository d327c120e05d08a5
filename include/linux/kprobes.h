/* Calls at an instruction (kprobes). A handler must not sleep. */
#pragma once

#include <linux/ptrace.h>
#include <linux/types.h>
#include <trace/kprobes.h>
