/*
 * Tables of who may do what. Each row is a call, made by uid 1000 and by root, each time in a process of its own, with
 * the errno that Linux gives. docs/permissions.md says the same in words: the rows' names stand there.
 */
#ifndef PERMROWS_H
#define PERMROWS_H

#include <callnumbers.h>

#define PERM_USER 1000

/* Two words, as many calls take and give them: a limit, a time. */
struct pair {
	unsigned long a, b;
};

struct perm_row {
	const char *name;
	long (*call)(void); /* -1: refused, with errno */
	int user, root;	    /* wanted errno, 0: it succeeds */
};

/* Make all calls. Returns the exit status: 1 when one answered otherwise. */
int perm_main(const struct perm_row *rows, size_t n);

#endif
