/* Of Linux's performance events only hardware breakpoints: there are no counters here. */
#pragma once

#include <kernel/hw_breakpoint.h>
