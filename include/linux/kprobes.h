/* Calls at an instruction (kprobes) and at returns (kretprobes). A handler must not sleep. */
#pragma once

#include <linux/ptrace.h>
#include <linux/types.h>
#include <trace/kprobes.h>
