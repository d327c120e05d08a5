/* On the host nobody is told. */
#pragma once

#define trace_hook(key, cond, func) ((void)0)
