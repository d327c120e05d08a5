/*
 * For what is yours to write in a lab: says so once in the kernel log, and lets the kernel go on as far as it can. It
 * becomes <lib/lab.h> of a lab's tree (tools/labs/cutting.py).
 */
#pragma once

#include <kernel/printk.h>

/* lab, what: string literals. Any context that may print. */
#define LAB_YOURS(lab, what)                                                 \
	do {                                                                 \
		static bool lab_said;                                        \
		if (!lab_said) {                                             \
			lab_said = true;                                     \
			pr_err("lab " lab ": " what " is yours to write\n"); \
		}                                                            \
	} while (0)
