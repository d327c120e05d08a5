/* Calls at an instruction of programs. A handler may sleep. */
#pragma once

#include <linux/ptrace.h>
#include <linux/types.h>
#include <trace/uprobes.h>
