/* The kernel's own, in place of what tests that hook no returns have. */
#pragma once
#include "../../../../include/trace/fgraph.h"
