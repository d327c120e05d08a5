/* <trace/ftrace.h> sets them, though no case does. */
#pragma once

#include "../../include-trace/asm/ptrace.h"
