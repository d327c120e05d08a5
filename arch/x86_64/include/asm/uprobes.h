/* Sizes of probes in programs, see <arch/uprobes.h>. */
#pragma once

#define UPROBE_BREAK_SIZE 1
#define UPROBE_BREAK_PC	  1 /* the pc that a breakpoint leaves, less its own address */
#define UPROBE_ALIGN	  1
#define UPROBE_REACH	  (1UL << 30) /* bytes from a place to its slot: half of what a displacement reaches */
#define UPROBE_BEFORE	  1	      /* nothing there is looked at */
