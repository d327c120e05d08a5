/* Sizes of probes in programs, see <arch/uprobes.h>. */
#pragma once

#define UPROBE_BREAK_SIZE 4
#define UPROBE_BREAK_PC	  0 /* the pc that a breakpoint leaves, less its own address */
#define UPROBE_ALIGN	  4
#define UPROBE_REACH	  (64UL << 20) /* bytes from a place to its slot: half of what a branch reaches */
#define UPROBE_BEFORE	  64	       /* bytes in which an exclusive load is looked for */
#define UPROBE_BRK_IMM	  5	       /* the operand of BRK, Linux's */
