/*
 * Making and freeing the memory of one kernel stack (vmalloc.c), and how many there are (thread_stack.c). Tasks get
 * theirs by alloc_thread_stack(), which keeps a cache.
 */
#pragma once

/* THREAD_SIZE bytes above an unmapped page; NULL when out of memory. Thread context. */
void *vmalloc_stack(void);
void vfree_stack(void *stack);
/* Stacks in use or kept for later. Any context. */
unsigned long nr_thread_stacks(void);
