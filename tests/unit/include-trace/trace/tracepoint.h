/* The kernel's own, in place of what tests without tracepoints have. */
#pragma once
#include "../../../../include/trace/tracepoint.h"
