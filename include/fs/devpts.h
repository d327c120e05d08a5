/* The names of pseudo terminals: /dev/pts, a file system of the type devpts (drivers/tty/pty/devpts.c). */
#pragma once

#define DEVPTS_MAX   64	 /* terminals */
#define DEVPTS_MAJOR 136 /* of their device files; the minor is the index */

/* The node of a terminal, which belongs to the caller, 0 or -ENOMEM; and its end. Thread context, no lock held. */
int devpts_add(unsigned index);
void devpts_remove(unsigned index);
