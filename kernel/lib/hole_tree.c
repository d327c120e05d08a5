/*
 * Holes between ranges of addresses, found by size in a time that grows with the height of the tree: Cormen et al., ch.
 * 14 (augmented trees). <lib/hole_tree.h> says what a hole is.
 *
 * Each node keeps `hole`, the free bytes below its range, and `max_hole`, the largest `hole` in its subtree. A search
 * can so pass over every subtree in which nothing is large enough. All functions run under the lock of the tree's
 * owner.
 */
#include <lib/hole_tree.h>

/* The largest hole of a subtree; an empty one has no room. */
static unsigned long max_hole(const struct rb_node *n)
{
	return n ? hole_of(n)->max_hole : 0;
}

/* The tree's rb_update_fn: compute max_hole from the node and its children, and tell whether it changed. */
static bool hole_update(struct rb_node *n)
{
	unsigned long largest = max(hole_of(n)->hole, max(max_hole(n->left), max_hole(n->right)));
	bool changed = hole_of(n)->max_hole != largest;

	hole_of(n)->max_hole = largest;
	return changed;
}

void hole_insert(struct hole_node *n, unsigned long hole, struct rb_node *parent, struct rb_node **link,
		 struct rb_root *root)
{
	n->hole = hole;
	n->max_hole = 0;
	rb_link_node(&n->node, parent, link);
	rb_insert_augmented(&n->node, root, hole_update);
}

void hole_erase(struct hole_node *n, struct rb_root *root)
{
	rb_erase_augmented(&n->node, root, hole_update);
}

/* The walk to the root ends at the first node whose maximum stays the same: nothing above it can change either. */
void hole_set(struct hole_node *n, unsigned long hole)
{
	if (n->hole == hole)
		return;
	n->hole = hole;
	for (struct rb_node *at = &n->node; at && hole_update(at); at = rb_parent(at))
		;
}

/*
 * One way down from the root. The left subtree holds the lower addresses, so it comes first; max_hole says beforehand
 * whether a way leads to a result, so no step is ever taken back.
 */
struct hole_node *hole_lowest(const struct rb_root *root, unsigned long len)
{
	struct rb_node *n = root->node;

	if (max_hole(n) < len)
		return NULL;
	for (;;) {
		if (max_hole(n->left) >= len)
			n = n->left;
		else if (hole_of(n)->hole >= len)
			return hole_of(n);
		else
			n = n->right;
	}
}

/*
 * The highest range in a subtree that has a hole of `len` below it. The caller has made sure by max_hole that one
 * exists.
 */
static struct hole_node *highest_in(struct rb_node *n, unsigned long len)
{
	for (;;) {
		if (max_hole(n->right) >= len)
			n = n->right;
		else if (hole_of(n)->hole >= len)
			return hole_of(n);
		else
			n = n->left;
	}
}

/*
 * From `before` one way up and one way down. The ranges that lie below `before` are its left subtree, and each ancestor
 * that it is to the right of, with that ancestor's left subtree. They are looked at in falling order of address, and
 * the search goes down only into a subtree that is known to hold a result.
 */
struct hole_node *hole_highest(const struct rb_root *root, const struct hole_node *before, unsigned long len)
{
	const struct rb_node *n = before ? &before->node : NULL;
	struct rb_node *parent;

	if (!n)
		return max_hole(root->node) >= len ? highest_in(root->node, len) : NULL;
	if (max_hole(n->left) >= len)
		return highest_in(n->left, len);
	for (; (parent = rb_parent(n)); n = parent) {
		if (n != parent->right)
			continue;
		if (hole_of(parent)->hole >= len)
			return hole_of(parent);
		if (max_hole(parent->left) >= len)
			return highest_in(parent->left, len);
	}
	return NULL;
}
