/* The events of memory; their headers say where each stands. */
#include <mm/page.h>

#define CREATE_TRACE_POINTS
#include <trace/events/exceptions.h>

#define CREATE_TRACE_POINTS
#include <trace/events/kmem.h>

/* The header's numbers, which the texts of events hold. */
static_assert(GFP_KERNEL == 0x1 && GFP_ATOMIC == 0x2 && __GFP_ZERO == 0x10 && __GFP_NOWARN == 0x20);
static_assert(sizeof(struct page) == 56);
