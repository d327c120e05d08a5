/*
 * Red-black trees, embedded in the objects that they order (Cormen et al., ch. 13). The user walks and compares by
 * itself: it goes down from root->node, links the new node with rb_link_node where the walk ended, and calls
 * rb_insert_color, which rebalances. So no comparison is called through a pointer.
 *
 * The caller's lock guards the tree. No function allocates, fails or sleeps.
 */
#pragma once

#include <lib/types.h>

struct rb_node {
	unsigned long parent_color; /* parent pointer | colour in bit 0 (1: black) */
	struct rb_node *right;
	struct rb_node *left;
};
struct rb_root {
	struct rb_node *node;
};
/* A root that remembers its leftmost node, for queues ordered by time. rb_add_cached and rb_erase_cached keep it. */
struct rb_root_cached {
	struct rb_root root;
	struct rb_node *leftmost;
};

/* Bit 0 of parent_color is the colour; nodes are aligned, so the rest is the parent. */
#define RB_BLACK		  1UL
#define RB_ROOT			  ((struct rb_root){NULL})
#define RB_ROOT_CACHED		  ((struct rb_root_cached){{NULL}, NULL})
#define rb_entry(p, type, member) container_of(p, type, member)

/* Hang `n` below `parent` at `*link`; rb_insert_color must follow. */
static inline void rb_link_node(struct rb_node *n, struct rb_node *parent, struct rb_node **link)
{
	n->parent_color = (unsigned long)parent;
	n->left = n->right = NULL;
	*link = n;
}
static inline struct rb_node *rb_parent(const struct rb_node *n)
{
	return (struct rb_node *)(n->parent_color & ~RB_BLACK);
}
/* Rebalance after rb_link_node. */
void rb_insert_color(struct rb_node *n, struct rb_root *root);
/* Take `n` out; its own fields keep what they held. */
void rb_erase(struct rb_node *n, struct rb_root *root);
/*
 * Augmented trees: each node keeps something that is computed from its whole subtree, a maximum for instance. `update`
 * computes it for one node from the node's own data and from what its children keep, and tells whether it has changed.
 * All calls for one tree must pass the same update.
 */
typedef bool (*rb_update_fn)(struct rb_node *n);
void rb_insert_augmented(struct rb_node *n, struct rb_root *root, rb_update_fn update); /* after rb_link_node */
void rb_erase_augmented(struct rb_node *n, struct rb_root *root, rb_update_fn update);
/* The first and the last node in order (NULL: the tree is empty), and a node's neighbours (NULL at the ends). */
struct rb_node *rb_first(const struct rb_root *root);
struct rb_node *rb_last(const struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *n);
struct rb_node *rb_prev(const struct rb_node *n);

/*
 * Insert into an empty tree, where there is nothing to rebalance. Queues that hold one element at a time are frequent.
 */
static inline void rb_set_only(struct rb_node *n, struct rb_root_cached *tree)
{
	rb_link_node(n, NULL, &tree->root.node);
	n->parent_color = RB_BLACK;
	tree->leftmost = n;
}

/* Insert by `less`; among equals the order of insertion is kept. Returns true when `n` became the leftmost node. */
static inline bool rb_add_cached(struct rb_node *n, struct rb_root_cached *tree,
				 bool (*less)(const struct rb_node *a, const struct rb_node *b))
{
	struct rb_node **link = &tree->root.node, *parent = NULL;
	bool leftmost = true;

	if (!*link) {
		rb_set_only(n, tree);
		return true;
	}
	while (*link) {
		parent = *link;
		if (less(n, parent)) {
			link = &parent->left;
		} else {
			link = &parent->right;
			leftmost = false;
		}
	}
	rb_link_node(n, parent, link);
	rb_insert_color(n, &tree->root);
	if (leftmost)
		tree->leftmost = n;
	return leftmost;
}

/* Take `n` out. The last node of a tree leaves without rebalancing. */
static inline void rb_erase_cached(struct rb_node *n, struct rb_root_cached *tree)
{
	if (tree->leftmost == n) {
		if (tree->root.node == n && !n->right) { /* leftmost and root without a right child: the only node */
			*tree = RB_ROOT_CACHED;
			return;
		}
		tree->leftmost = rb_next(n);
	}
	rb_erase(n, &tree->root);
}
#define rb_first_cached(tree) ((tree)->leftmost)
/* Mark a node as being in no tree: it is its own parent. */
#define RB_CLEAR_NODE(n) ((n)->parent_color = (unsigned long)(n))
#define RB_EMPTY_NODE(n) ((n)->parent_color == (unsigned long)(n))
