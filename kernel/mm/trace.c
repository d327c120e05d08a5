/*
 * The events of memory and of exceptions are defined here; their headers say where each is hit. Here too the numbers
 * are checked that the texts of these events hold.
 */
#include <mm/page.h>

#define CREATE_TRACE_POINTS
#include <trace/events/exceptions.h>

#define CREATE_TRACE_POINTS
#include <trace/events/kmem.h>

/* The text of an event is made by user space from a format, which holds these numbers and not their names. */
static_assert(GFP_KERNEL == 0x1 && GFP_ATOMIC == 0x2 && __GFP_ZERO == 0x10 && __GFP_NOWARN == 0x20);
static_assert(sizeof(struct page) == 56);
