/*
 * Red-black trees: insertion and removal with rebalancing, and walking (Cormen et al., ch. 13).
 *
 * The same code serves trees whose nodes keep something of all that is below them (ch. 14): `update` is NULL
 * for the others, and as everything is inlined into the exported functions, they pay nothing for it.
 */
#include <lib/rbtree.h>

/* A missing child is black. */
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

/* `n` has come below `up`: nothing changes above the two. */
static __always_inline void updated(rb_update_fn update, struct rb_node *n, struct rb_node *up)
{
	if (!update)
		return;
	update(n);
	update(up);
}

static __always_inline void rotate_left(struct rb_node *n, struct rb_root *root, rb_update_fn update)
{
	struct rb_node *up = n->right, *parent = rb_parent(n);

	n->right = up->left;
	if (up->left)
		set_parent(up->left, n);
	up->left = n;
	set_parent(up, parent);
	replace_child(parent, n, up, root);
	set_parent(n, up);
	updated(update, n, up);
}

static __always_inline void rotate_right(struct rb_node *n, struct rb_root *root, rb_update_fn update)
{
	struct rb_node *up = n->left, *parent = rb_parent(n);

	n->left = up->right;
	if (up->right)
		set_parent(up->right, n);
	up->right = n;
	set_parent(up, parent);
	replace_child(parent, n, up, root);
	set_parent(n, up);
	updated(update, n, up);
}

/* `n` is red, so is its parent, and its uncle is black: two colours and at most two rotations mend it. */
static __always_inline void insert_rotate(struct rb_node *n, struct rb_node *parent, struct rb_node *grand,
					  struct rb_root *root, rb_update_fn update)
{
	if (parent == grand->left) {
		if (n == parent->right) {
			rotate_left(parent, root, update);
			parent = n;
		}
		rotate_right(grand, root, update);
	} else {
		if (n == parent->left) {
			rotate_right(parent, root, update);
			parent = n;
		}
		rotate_left(grand, root, update);
	}
	set_black(parent);
	set_red(grand);
}

static __always_inline void insert_color(struct rb_node *n, struct rb_root *root, rb_update_fn update)
{
	struct rb_node *parent, *grand, *uncle;

	while ((parent = rb_parent(n)) && is_red(parent)) {
		grand = rb_parent(parent); /* a red node is never the root */
		uncle = parent == grand->left ? grand->right : grand->left;
		if (!is_red(uncle)) {
			insert_rotate(n, parent, grand, root, update);
			break;
		}
		set_black(parent);
		set_black(uncle);
		set_red(grand);
		n = grand;
	}
	set_black(root->node);
}

void rb_insert_color(struct rb_node *n, struct rb_root *root)
{
	insert_color(n, root, NULL);
}

/* What is `n`'s own has changed: bring it and those above it up to date, as far as anything changes. */
static void update_path(struct rb_node *n, rb_update_fn update)
{
	while (n && update(n))
		n = rb_parent(n);
}

void rb_insert_augmented(struct rb_node *n, struct rb_root *root, rb_update_fn update)
{
	update(n);
	update_path(rb_parent(n), update);
	insert_color(n, root, update);
}

/*
 * Paths through `n` (which may be NULL, so its parent comes along) lack one black node, and its sibling is
 * black. Returns true when all paths are equal again, false when the lack has moved up to the parent.
 */
static __always_inline bool erase_fix_left(struct rb_node *parent, struct rb_root *root, rb_update_fn update)
{
	struct rb_node *sibling = parent->right;

	if (!is_red(sibling->left) && !is_red(sibling->right)) {
		set_red(sibling);
		return false;
	}
	if (!is_red(sibling->right)) {
		set_black(sibling->left);
		set_red(sibling);
		rotate_right(sibling, root, update);
		sibling = parent->right;
	}
	sibling->parent_color = (sibling->parent_color & ~RB_BLACK) | (parent->parent_color & RB_BLACK);
	set_black(parent);
	set_black(sibling->right);
	rotate_left(parent, root, update);
	return true;
}

static __always_inline bool erase_fix_right(struct rb_node *parent, struct rb_root *root, rb_update_fn update)
{
	struct rb_node *sibling = parent->left;

	if (!is_red(sibling->left) && !is_red(sibling->right)) {
		set_red(sibling);
		return false;
	}
	if (!is_red(sibling->left)) {
		set_black(sibling->right);
		set_red(sibling);
		rotate_left(sibling, root, update);
		sibling = parent->left;
	}
	sibling->parent_color = (sibling->parent_color & ~RB_BLACK) | (parent->parent_color & RB_BLACK);
	set_black(parent);
	set_black(sibling->left);
	rotate_right(parent, root, update);
	return true;
}

static __always_inline void erase_color(struct rb_node *n, struct rb_node *parent, struct rb_root *root,
					rb_update_fn update)
{
	while (parent && !is_red(n)) {
		bool left = n == parent->left;
		struct rb_node *sibling = left ? parent->right : parent->left;

		if (is_red(sibling)) {
			set_black(sibling);
			set_red(parent);
			if (left)
				rotate_left(parent, root, update);
			else
				rotate_right(parent, root, update);
		}
		if (left ? erase_fix_left(parent, root, update) : erase_fix_right(parent, root, update))
			return;
		n = parent;
		parent = rb_parent(n);
	}
	if (n)
		set_black(n);
}

/* A node that went: what took the place below it, under what, and whether the paths through it lack a black
 * node. */
struct erased {
	struct rb_node *child, *parent;
	struct rb_node *moved; /* the successor that stands where it was; NULL: it had one child at most */
	bool black;
};

/* Two children: the successor, leftmost of the right subtree, takes n's place and colour. */
static __always_inline struct erased unlink_with_two_children(struct rb_node *n, struct rb_root *root)
{
	struct rb_node *next = n->right;
	struct erased e;

	while (next->left)
		next = next->left;
	e.child = next->right;
	e.parent = rb_parent(next);
	e.black = !is_red(next);
	if (e.parent == n) {
		e.parent = next;
	} else {
		e.parent->left = e.child;
		if (e.child)
			set_parent(e.child, e.parent);
		next->right = n->right;
		set_parent(n->right, next);
	}
	next->left = n->left;
	set_parent(n->left, next);
	replace_child(rb_parent(n), n, next, root);
	next->parent_color = n->parent_color;
	e.moved = next;
	return e;
}

static __always_inline struct erased unlink_node(struct rb_node *n, struct rb_root *root)
{
	struct erased e;

	if (n->left && n->right)
		return unlink_with_two_children(n, root);
	e.child = n->left ? n->left : n->right;
	e.parent = rb_parent(n);
	e.moved = NULL;
	e.black = !is_red(n);
	if (e.child)
		set_parent(e.child, e.parent);
	replace_child(e.parent, n, e.child, root);
	return e;
}

void rb_erase(struct rb_node *n, struct rb_root *root)
{
	struct erased e = unlink_node(n, root);

	if (e.black)
		erase_color(e.child, e.parent, root, NULL);
}

/* A successor that has moved up has another one's subtree below it: whether it changes says nothing of those
 * above. */
void rb_erase_augmented(struct rb_node *n, struct rb_root *root, rb_update_fn update)
{
	struct erased e = unlink_node(n, root);

	update_path(e.parent, update);
	if (e.moved) {
		update(e.moved);
		update_path(rb_parent(e.moved), update);
	}
	if (e.black)
		erase_color(e.child, e.parent, root, update);
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
	while ((parent = rb_parent(n)) && n == parent->right)
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
	while ((parent = rb_parent(n)) && n == parent->left)
		n = parent;
	return parent;
}
