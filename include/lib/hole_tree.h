/*
 * Ranges of addresses in a tree, and the holes between them: a red-black tree by address in which each node knows the
 * hole right below its range and the largest hole in its subtree. A hole of a given size is so found in a time that
 * grows with the height.
 *
 * The owner of the ranges decides what counts as a hole: a mapping below a stack keeps a distance, for instance. The
 * owner tells each change of a hole to the tree, and the owner's lock guards all of it. Nothing here allocates or
 * fails.
 */
#pragma once

#include <lib/rbtree.h>

struct hole_node {
	struct rb_node node;
	unsigned long hole;	/* free bytes right below the range */
	unsigned long max_hole; /* the largest `hole` of the subtree */
};

#define hole_of(n) rb_entry(n, struct hole_node, node)

/* Insert `n` below `parent` at `*link`, where the caller's walk ended, with `hole` free bytes below its range. */
void hole_insert(struct hole_node *n, unsigned long hole, struct rb_node *parent, struct rb_node **link,
		 struct rb_root *root);
/* Take `n` out. The hole of the range above it grows: the caller tells that by hole_set. */
void hole_erase(struct hole_node *n, struct rb_root *root);
/* The hole below `n` has changed. */
void hole_set(struct hole_node *n, unsigned long hole);
/* The lowest range with a hole of `len` bytes or more below it, or NULL. */
struct hole_node *hole_lowest(const struct rb_root *root, unsigned long len);
/* The highest such range that comes before `before` (before NULL: the highest of all), or NULL. */
struct hole_node *hole_highest(const struct rb_root *root, const struct hole_node *before, unsigned long len);
