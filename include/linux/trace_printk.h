/* The name that Linux has for it. */
#pragma once

#include <trace/trace_printk.h>
