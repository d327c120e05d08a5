/* Holes between ranges of addresses, found by size: Cormen et al., ch. 14 (augmented trees). */
#include <lib/hole_tree.h>

static unsigned long max_hole(const struct rb_node *n)
{
	return n ? hole_of(n)->max_hole : 0;
}

/* The tree's rb_update_fn. */
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

void hole_set(struct hole_node *n, unsigned long hole)
{
	if (n->hole == hole)
		return;
	n->hole = hole;
	for (struct rb_node *at = &n->node; at && hole_update(at); at = rb_parent(at))
		;
}

/* One way down: to the left as long as there is one on the left. */
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

/* The highest range of a subtree that has a hole of `len` below it; there is one. */
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

/* One way up from `before`, past the subtrees that lie below it, and one down in the first that has what we
 * want. */
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
