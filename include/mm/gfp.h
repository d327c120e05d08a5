/*
 * Flags of every allocation of pages and objects. Their values stand in the texts of the kmem events, too
 * (kernel/mm/trace.c checks that).
 */
#pragma once

#define GFP_KERNEL   0x01u /* thread context; may sleep: while memory is full it waits for what the OOM killer frees */
#define GFP_ATOMIC   0x02u /* any context but nmi */
#define __GFP_ZERO   0x10u
#define __GFP_NOWARN 0x20u /* the caller copes with a failure: no message, and no process is killed for it */
#define GFP_USER     (GFP_KERNEL | __GFP_NOWARN) /* of programs: a fault calls out_of_memory() without mmap_lock */
