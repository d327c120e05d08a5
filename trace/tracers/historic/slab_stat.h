/* trace_stat/slab: allocations by call site. kmemtrace counts them, whatever becomes of its records. */
#pragma once

#include <lib/types.h>

/* Begin at zero. 0 or -ENOMEM. Thread context, trace_types_lock held, while no probe can count. */
int slab_stat_reset(void);
/* An allocation from a slab, that has succeeded. Context: a probe, preemption off; not in NMIs. */
void slab_stat_count(unsigned long call_site, size_t bytes_req, size_t bytes_alloc);
