/* Red-black trees, intrusive: the user walks and compares, the library rebalances (Cormen et al., ch. 13). */
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
/* A root that remembers its leftmost node, for queues ordered by time. */
struct rb_root_cached {
	struct rb_root root;
	struct rb_node *leftmost;
};

/* Bit 0 of parent_color is the colour; nodes are aligned, so the rest is the parent. */
#define RB_BLACK                   1UL
#define RB_ROOT                    ((struct rb_root){ NULL })
#define RB_ROOT_CACHED             ((struct rb_root_cached){ { NULL }, NULL })
#define rb_entry(p, type, member)  container_of(p, type, member)

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
void rb_insert_color(struct rb_node *n, struct rb_root *root);
void rb_erase(struct rb_node *n, struct rb_root *root);
/*
 * Trees whose nodes keep something that is computed from all of their subtree, a maximum for instance. `update`
 * computes it for one node from what is the node's own and what its children have, and tells whether it has changed.
 * One tree has one update.
 */
typedef bool (*rb_update_fn)(struct rb_node *n);
void rb_insert_augmented(struct rb_node *n, struct rb_root *root, rb_update_fn update); /* after rb_link_node */
void rb_erase_augmented(struct rb_node *n, struct rb_root *root, rb_update_fn update);
struct rb_node *rb_first(const struct rb_root *root);
struct rb_node *rb_last(const struct rb_root *root);
struct rb_node *rb_next(const struct rb_node *n);
struct rb_node *rb_prev(const struct rb_node *n);

/* The tree was empty: no colours to look at. */
static inline void rb_set_only(struct rb_node *n, struct rb_root_cached *tree)
{
	rb_link_node(n, NULL, &tree->root.node);
	n->parent_color = RB_BLACK;
	tree->leftmost = n;
}

/* Insert by `less`; keeps insertion order among equals. Returns true when `n` became the leftmost. */
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
static inline void rb_erase_cached(struct rb_node *n, struct rb_root_cached *tree)
{
	if (tree->leftmost == n) {
		if (tree->root.node == n && !n->right) { /* the only one */
			*tree = RB_ROOT_CACHED;
			return;
		}
		tree->leftmost = rb_next(n);
	}
	rb_erase(n, &tree->root);
}
#define rb_first_cached(tree) ((tree)->leftmost)
/* Marks a node as being in no tree. */
#define RB_CLEAR_NODE(n) ((n)->parent_color = (unsigned long)(n))
#define RB_EMPTY_NODE(n) ((n)->parent_color == (unsigned long)(n))
