/* The table of userptr: one row for each pointer that a system call takes. */
#ifndef USERPTR_H
#define USERPTR_H

#include <callnumbers.h>

#define X 0x5badc0dedeadbabeL /* among the arguments: the pointer's place */

struct row {
	const char *call;
	int nr;
	const char *what; /* the pointer's name */
	long a[6];	  /* the call's arguments, all good but one */
	void **slot;	  /* where a nested pointer stands; NULL: it is X in a */
	const void *good; /* what stands where the pointer leads, when anything else would fail by itself */
	size_t good_size;
	void (*before)(void), (*after)(void);
	int wanted;	  /* errno, when not EFAULT */
	unsigned align;	  /* EINVAL for other addresses */
	bool succeeds;	  /* as on Linux: the pointer is not looked at, or its fault not told; nothing is written
			*/
	bool one_byte;	  /* no more is taken or given */
	bool few;	  /* gives less than it is asked for */
	bool kernel_only; /* of any user address it is good */
};

#define ROWS 600

/* All that are written down, in an array of ROWS. Opens what the calls need, in the working directory. */
struct row *userptr_rows(size_t *n);

#endif
