/*
 * Which of many names a person may have meant: the few that are closest to a word. See close_names.c for what makes a
 * name close. All of it is the caller's alone: no lock, any context.
 */
#pragma once

#include <lib/types.h>

#define CLOSE_NAMES_MAX		3  /* names that are kept */
#define CLOSE_NAME_SIZE		64 /* bytes with the ending zero; longer names are not looked at */
#define CLOSE_NAMES_NO_DISTANCE ~0U

/*
 * How many single characters must be put in, left out, exchanged, or swapped with their neighbour to turn `a` into `b`.
 * CLOSE_NAMES_NO_DISTANCE when one of them has CLOSE_NAME_SIZE characters or more. Takes as many steps as the product
 * of the lengths.
 */
unsigned edit_distance(const char *a, const char *b);

/* A search. Names are kept as copies, so those that are offered may go away. */
struct close_names {
	const char *word;
	size_t len;
	unsigned nr;
	struct {
		unsigned distance;
		char name[CLOSE_NAME_SIZE];
	} best[CLOSE_NAMES_MAX]; /* the closest first */
};

/* Begin a search. `word` must live as long as the search. */
void close_names_init(struct close_names *close, const char *word);
/* Offer one name; the best of all that are offered are in close->best afterwards. */
void close_names_offer(struct close_names *close, const char *name);
