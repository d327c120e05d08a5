/*
 * Ranges of addresses in a tree, and the holes between them: a red-black tree by address in which each node
 * knows the hole right below its range and the largest hole in its subtree. So a hole of a given size is
 * found in a time that grows with the height.
 *
 * What a hole is says whoever owns the ranges: a mapping below a stack keeps a distance, for instance. It
 * tells each change of a hole to the tree. The caller's lock guards all of it.
 */
#pragma once

#include <lib/rbtree.h>

struct hole_node {
	struct rb_node node;
	unsigned long hole;     /* free bytes right below the range */
	unsigned long max_hole; /* the largest `hole` of the subtree */
};

#define hole_of(n) rb_entry(n, struct hole_node, node)

/* Insert `n` below `parent` at `*link`, with that hole. */
void hole_insert(struct hole_node *n, unsigned long hole, struct rb_node *parent, struct rb_node **link,
		 struct rb_root *root);
void hole_erase(struct hole_node *n, struct rb_root *root);
void hole_set(struct hole_node *n, unsigned long hole);
/* The lowest range with a hole of `len` bytes or more below it; NULL. */
struct hole_node *hole_lowest(const struct rb_root *root, unsigned long len);
/* The highest one before `before` (NULL: of all). */
struct hole_node *hole_highest(const struct rb_root *root, const struct hole_node *before, unsigned long len);
