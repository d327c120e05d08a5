/* Which of many names somebody may have meant: the few that are closest to a word. */
#pragma once

#include <lib/types.h>

#define CLOSE_NAMES_MAX		3  /* that are kept */
#define CLOSE_NAME_SIZE		64 /* longer ones are not looked at */
#define CLOSE_NAMES_NO_DISTANCE ~0U

/*
 * How many single characters must be put in, left out, exchanged, or swapped with their neighbour to make `b`
 * of `a`. CLOSE_NAMES_NO_DISTANCE: one of them has CLOSE_NAME_SIZE characters or more. Any context; takes as
 * many steps as the product of the lengths.
 */
unsigned edit_distance(const char *a, const char *b);

/* The owner's alone. A name is kept as a copy. */
struct close_names {
	const char *word;
	size_t len;
	unsigned nr;
	struct {
		unsigned distance;
		char name[CLOSE_NAME_SIZE];
	} best[CLOSE_NAMES_MAX]; /* the closest first */
};

/* `word` must live as long as the other is used. */
void close_names_init(struct close_names *close, const char *word);
/* One name after the other. */
void close_names_offer(struct close_names *close, const char *name);
