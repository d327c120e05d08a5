/*
 * Executing an instruction of the kernel elsewhere (arch/<machine>/probes). A slot is a piece of executable memory
 * in reach of all text. It holds, from its start:
 *
 *	two words	address of a pointer to the site; the probed address
 *	entry		saves all registers as a struct pt_regs, calls kprobe_jumped(), loads them again
 *	code		does what the instruction does, and goes on where that would
 *
 * A breakpoint leads to `code`, a jump to `entry`. Code that depends on its own address becomes other code: a branch
 * keeps its target, a call returns behind the original, an address that is relative to the pc is kept as a constant. So
 * no instruction is stepped or simulated. For a site with a post_handler, `code` calls kprobe_executed() on each of its
 * ways out.
 */
#pragma once

#include <lib/types.h>

#define KPROBE_SLOT_SIZE 128u
#define KPROBE_MAX_COPY	 24u /* bytes of text that a probe may replace, rounded up */

/* What is to be put into a slot, and what was found out about the place. */
struct kprobe_code {
	unsigned long addr; /* in: the probed place */
	unsigned long slot; /* in: where the slot will be executed */
	void *owner;	    /* in: for the first word */
	bool post;	    /* in: with calls of kprobe_executed() */
	bool jump;	    /* in: by a jump, if it can be; out: it can be */
	unsigned len;	    /* out: bytes of text that the probe replaces: one instruction, or what a jump takes */
	bool several;	    /* out: these are more than one instruction */
	u8 bytes[KPROBE_SLOT_SIZE] __aligned(8); /* out: the slot */
	unsigned entry, code;			 /* out: their offsets in it */
};

/*
 * Fill in the out fields for the instruction at addr, which stands in text that is not changed meanwhile (kprobe_mutex
 * and text_mutex). `start`: of the function around it. 0; -EINVAL: it may not be executed elsewhere; -EILSEQ: addr is
 * in the middle of an instruction.
 */
int arch_kprobe_prepare(struct kprobe_code *code, unsigned long start, unsigned long end);
/*
 * Is there, in these bytes of text, a place that the kernel changes by itself: a call site of ftrace, a static branch?
 * trace/kprobes/kprobes.c, for arch_kprobe_prepare(). [text_mutex]
 */
bool kprobe_place_changes(unsigned long addr, unsigned len);

/*
 * Between arch_patch_begin() and arch_patch_end(): a breakpoint at addr; a jump from addr to `entry`, over len bytes;
 * what stood there.
 */
void arch_kprobe_write_break(unsigned long addr);
void arch_kprobe_write_jump(unsigned long addr, unsigned long entry, unsigned len);
void arch_kprobe_restore(unsigned long addr, const void *original, unsigned len);
