/* Making and freeing the memory of one kernel stack (vmalloc.c), and how many there are (thread_stack.c). */
#pragma once

/* THREAD_SIZE bytes above an unmapped page; NULL when out of memory. Thread context. */
void *vmalloc_stack(void);
void vfree_stack(void *stack);
unsigned long nr_thread_stacks(void);
