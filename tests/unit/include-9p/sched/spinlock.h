/* Spinlocks of a test with one thread, as those of drivers have them. */
#include "../../include-io/sched/spinlock.h"
