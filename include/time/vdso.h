/*
 * What the kernel's clock tells the vDSO: one page that every program can read. The layout is known to the kernel and
 * to its own vDSO (vdso/vdso.c) only.
 */
#pragma once

#ifndef VDSO_BUILD
#include <lib/types.h>
struct page;
#endif

/*
 * A sequence count: odd while the rest changes; a reader that finds it odd, or another one at its end, begins again.
 * All times are those of <time/clock.h>: ns = (cycles * mult) >> 32.
 */
struct vdso_data {
	u32 seq;
	u32 counter; /* may programs read the counter that is the clock? 0: they must ask the kernel */
	u64 mult;
	u64 wall_offset; /* wall clock minus monotonic clock, ns */
};

#ifndef VDSO_BUILD
/* The page, or NULL before vdso_data_init(). Any context. */
struct page *vdso_data_page(void);
/* Something of the clock has changed: tell programs. Any context but nmi. */
void vdso_update_clock(void);
u64 wall_clock_offset(void); /* clock.c. Any context */
struct wait_queue_head;
extern struct wait_queue_head clock_set_wait; /* woken when the wall clock was set */
#endif
