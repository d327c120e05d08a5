/* Red-black trees: insertion and removal with rebalancing, and walking (Cormen et al., ch. 13). */
#include <lib/rbtree.h>

/* A missing child is black. */
static struct rb_node *parent_of(const struct rb_node *n)
{
	return (struct rb_node *)(n->parent_color & ~RB_BLACK);
}

static bool is_red(const struct rb_node *n)
{
	return n && !(n->parent_color & RB_BLACK);
}

static void set_parent(struct rb_node *n, struct rb_node *parent)
{
	n->parent_color = (unsigned long)parent | (n->parent_color & RB_BLACK);
}

static void set_red(struct rb_node *n)
{
	n->parent_color &= ~RB_BLACK;
}

static void set_black(struct rb_node *n)
{
	n->parent_color |= RB_BLACK;
}

/* Make whoever pointed at `old` (its parent, or the root) point at `new`. */
static void replace_child(struct rb_node *parent, struct rb_node *old, struct rb_node *new,
			  struct rb_root *root)
{
	if (!parent)
		root->node = new;
	else if (parent->left == old)
		parent->left = new;
	else
		parent->right = new;
}

static void rotate_left(struct rb_node *n, struct rb_root *root)
{
	struct rb_node *up = n->right, *parent = parent_of(n);

	n->right = up->left;
	if (up->left)
		set_parent(up->left, n);
	up->left = n;
	set_parent(up, parent);
	replace_child(parent, n, up, root);
	set_parent(n, up);
}

static void rotate_right(struct rb_node *n, struct rb_root *root)
{
	struct rb_node *up = n->left, *parent = parent_of(n);

	n->left = up->right;
	if (up->right)
		set_parent(up->right, n);
	up->right = n;
	set_parent(up, parent);
	replace_child(parent, n, up, root);
	set_parent(n, up);
}

/* `n` is red, so is its parent, and its uncle is black: two colours and at most two rotations mend it. */
static void insert_rotate(struct rb_node *n, struct rb_node *parent, struct rb_node *grand,
			  struct rb_root *root)
{
	if (parent == grand->left) {
		if (n == parent->right) {
			rotate_left(parent, root);
			parent = n;
		}
		rotate_right(grand, root);
	} else {
		if (n == parent->left) {
			rotate_right(parent, root);
			parent = n;
		}
		rotate_left(grand, root);
	}
	set_black(parent);
	set_red(grand);
}

void rb_insert_color(struct rb_node *n, struct rb_root *root)
{
	struct rb_node *parent, *grand, *uncle;

	while ((parent = parent_of(n)) && is_red(parent)) {
		grand = parent_of(parent); /* a red node is never the root */
		uncle = parent == grand->left ? grand->right : grand->left;
		if (!is_red(uncle)) {
			insert_rotate(n, parent, grand, root);
			break;
		}
		set_black(parent);
		set_black(uncle);
		set_red(grand);
		n = grand;
	}
	set_black(root->node);
}

/*
 * Paths through `n` (which may be NULL, so its parent comes along) lack one black node, and its sibling is
 * black. Returns true when all paths are equal again, false when the lack has moved up to the parent.
 */
static bool erase_fix_left(struct rb_node *parent, struct rb_root *root)
{
	struct rb_node *sibling = parent->right;

	if (!is_red(sibling->left) && !is_red(sibling->right)) {
		set_red(sibling);
		return false;
	}
	if (!is_red(sibling->right)) {
		set_black(sibling->left);
		set_red(sibling);
		rotate_right(sibling, root);
		sibling = parent->right;
	}
	sibling->parent_color = (sibling->parent_color & ~RB_BLACK) | (parent->parent_color & RB_BLACK);
	set_black(parent);
	set_black(sibling->right);
	rotate_left(parent, root);
	return true;
}

static bool erase_fix_right(struct rb_node *parent, struct rb_root *root)
{
	struct rb_node *sibling = parent->left;

	if (!is_red(sibling->left) && !is_red(sibling->right)) {
		set_red(sibling);
		return false;
	}
	if (!is_red(sibling->left)) {
		set_black(sibling->right);
		set_red(sibling);
		rotate_left(sibling, root);
		sibling = parent->left;
	}
	sibling->parent_color = (sibling->parent_color & ~RB_BLACK) | (parent->parent_color & RB_BLACK);
	set_black(parent);
	set_black(sibling->left);
	rotate_right(parent, root);
	return true;
}

static void erase_color(struct rb_node *n, struct rb_node *parent, struct rb_root *root)
{
	while (parent && !is_red(n)) {
		bool left = n == parent->left;
		struct rb_node *sibling = left ? parent->right : parent->left;

		if (is_red(sibling)) {
			set_black(sibling);
			set_red(parent);
			if (left)
				rotate_left(parent, root);
			else
				rotate_right(parent, root);
		}
		if (left ? erase_fix_left(parent, root) : erase_fix_right(parent, root))
			return;
		n = parent;
		parent = parent_of(n);
	}
	if (n)
		set_black(n);
}

/* Two children: the successor, leftmost of the right subtree, takes n's place and colour. */
static void erase_with_two_children(struct rb_node *n, struct rb_root *root)
{
	struct rb_node *next = n->right, *child, *parent;
	bool black;

	while (next->left)
		next = next->left;
	child = next->right;
	parent = parent_of(next);
	black = !is_red(next);
	if (parent == n) {
		parent = next;
	} else {
		parent->left = child;
		if (child)
			set_parent(child, parent);
		next->right = n->right;
		set_parent(n->right, next);
	}
	next->left = n->left;
	set_parent(n->left, next);
	replace_child(parent_of(n), n, next, root);
	next->parent_color = n->parent_color;
	if (black)
		erase_color(child, parent, root);
}

void rb_erase(struct rb_node *n, struct rb_root *root)
{
	struct rb_node *child, *parent;

	if (n->left && n->right) {
		erase_with_two_children(n, root);
		return;
	}
	child = n->left ? n->left : n->right;
	parent = parent_of(n);
	if (child)
		set_parent(child, parent);
	replace_child(parent, n, child, root);
	if (!is_red(n))
		erase_color(child, parent, root);
}

struct rb_node *rb_first(const struct rb_root *root)
{
	struct rb_node *n = root->node;

	while (n && n->left)
		n = n->left;
	return n;
}

struct rb_node *rb_last(const struct rb_root *root)
{
	struct rb_node *n = root->node;

	while (n && n->right)
		n = n->right;
	return n;
}

struct rb_node *rb_next(const struct rb_node *n)
{
	struct rb_node *parent;

	if (n->right) {
		n = n->right;
		while (n->left)
			n = n->left;
		return (struct rb_node *)n;
	}
	while ((parent = parent_of(n)) && n == parent->right)
		n = parent;
	return parent;
}

struct rb_node *rb_prev(const struct rb_node *n)
{
	struct rb_node *parent;

	if (n->left) {
		n = n->left;
		while (n->right)
			n = n->right;
		return (struct rb_node *)n;
	}
	while ((parent = parent_of(n)) && n == parent->left)
		n = parent;
	return parent;
}
