/* The kernel's own. */
#pragma once

#include "../../../../include/trace/tracepoint.h"
