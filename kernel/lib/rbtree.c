/*
 * Red-black trees: insertion and removal with rebalancing, and walking (Cormen et al., ch. 13). The user of a tree
 * walks and compares by itself; see <lib/rbtree.h>.
 *
 * The rules that hold between two calls: the root is black, a red node has no red child, and all paths from a node to
 * its missing children have the same number of black nodes. Hence no path is more than twice as long as another.
 *
 * The same code serves trees whose nodes keep something of all that is below them (ch. 14). For the others `update` is
 * NULL; as everything is inlined into the exported functions, they pay nothing for it.
 *
 * The caller's lock guards the tree. There are no sentinels: a missing child is NULL and counts as black.
 */
#include <kernel/export.h>
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

/* Let the pointer to `old`, which is in its parent or in the root, point to `new`. */
static void replace_child(struct rb_node *parent, struct rb_node *old, struct rb_node *new, struct rb_root *root)
{
	if (!parent)
		root->node = new;
	else if (parent->left == old)
		parent->left = new;
	else
		parent->right = new;
}

/*
 * A rotation has put `n` below `up`. The two have the same nodes in their subtrees together as before, so nothing above
 * them changes. The lower one must be updated first.
 */
static __always_inline void updated(rb_update_fn update, struct rb_node *n, struct rb_node *up)
{
	if (!update)
		return;
	update(n);
	update(up);
}

/*
 * The right child of `n` takes the place of `n`, which becomes its left child. The order of the nodes stays. Colours
 * move with their nodes; the caller corrects them.
 */
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

/* The mirror image of rotate_left(). */
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

/*
 * `n` is red, its parent is red too, and its uncle is black: at most two rotations and two changes of colour restore
 * the rules. When `n` is an inner grandchild, the first rotation makes it an outer one; the second one puts the parent
 * above the grandparent.
 */
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

/*
 * The new node is red, so only one rule can be broken: its parent may be red as well. While the uncle is red too, both
 * become black and the grandparent red, and the question moves up to the grandparent. A black uncle ends the loop by
 * rotations. The root is made black in the end, which harms no path.
 */
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
EXPORT_SYMBOL(rb_insert_color);

/* What `n` keeps for itself has changed: bring it and the nodes above it up to date, as far as anything changes. */
static void update_path(struct rb_node *n, rb_update_fn update)
{
	while (n && update(n))
		n = rb_parent(n);
}

/*
 * First the values on the way up, as if no rebalancing followed; the rotations then update only the nodes that they
 * move.
 */
void rb_insert_augmented(struct rb_node *n, struct rb_root *root, rb_update_fn update)
{
	update(n);
	update_path(rb_parent(n), update);
	insert_color(n, root, update);
}

/*
 * The paths through the left child of `parent` lack one black node, and its sibling is black. The child may be NULL,
 * which is why the parent is passed.
 *
 * When both nephews are black, a red sibling makes its side as short, and the lack moves up: false. Otherwise the outer
 * nephew is made red if it was not, and one rotation puts the sibling above the parent, in the parent's colour: all
 * paths are equal again, true.
 */
static __always_inline bool erase_fix_left(struct rb_node *parent, struct rb_root *root, rb_update_fn update)
{
	struct rb_node *sibling = parent->right;

	if (!is_red(sibling->left) && !is_red(sibling->right)) {
		set_red(sibling);
		return false;
	}
	if (!is_red(sibling->right)) { /* the colours of both are set below */
		rotate_right(sibling, root, update);
		sibling = parent->right;
	}
	sibling->parent_color = (sibling->parent_color & ~RB_BLACK) | (parent->parent_color & RB_BLACK);
	set_black(parent);
	set_black(sibling->right);
	rotate_left(parent, root, update);
	return true;
}

/* The mirror image of erase_fix_left(). */
static __always_inline bool erase_fix_right(struct rb_node *parent, struct rb_root *root, rb_update_fn update)
{
	struct rb_node *sibling = parent->left;

	if (!is_red(sibling->left) && !is_red(sibling->right)) {
		set_red(sibling);
		return false;
	}
	if (!is_red(sibling->left)) {
		rotate_left(sibling, root, update);
		sibling = parent->left;
	}
	sibling->parent_color = (sibling->parent_color & ~RB_BLACK) | (parent->parent_color & RB_BLACK);
	set_black(parent);
	set_black(sibling->left);
	rotate_right(parent, root, update);
	return true;
}

/*
 * A black node went, and `n` (which may be NULL) stands below `parent` in its place. A red `n` becomes black and makes
 * good the loss. Otherwise a red sibling is rotated away first, so that the functions above find a black one; then the
 * rules hold again, or the lack moves one level up.
 */
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

/* What unlinking a node left behind. */
struct erased {
	struct rb_node *child, *parent; /* what took the place that became free (may be NULL), and the node above it */
	struct rb_node *moved;		/* the successor that took over the node's own place; NULL: one child at most */
	bool black;			/* the paths through `child` lack one black node now */
};

/*
 * Unlink a node that has two children: its successor, the leftmost node of the right subtree, takes over its place and
 * its colour. So the place that becomes free in the tree is the successor's, and its colour decides whether a black
 * node is lacking. When the successor is the right child itself, it keeps its own right subtree, and it is the parent
 * of the free place.
 */
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

/* Unlink a node; its only child, if any, moves up. */
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
EXPORT_SYMBOL(rb_erase);

/*
 * The values are updated before the rebalancing. The way up from the free place passes the successor when one has
 * moved. That one now has another node's subtree below it, so that its own value staying the same says nothing about
 * the nodes above; the update therefore goes on above it in any case.
 */
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
EXPORT_SYMBOL(rb_first);

struct rb_node *rb_last(const struct rb_root *root)
{
	struct rb_node *n = root->node;

	while (n && n->right)
		n = n->right;
	return n;
}
EXPORT_SYMBOL(rb_last);

/* The leftmost node of the right subtree; without one, the first ancestor that has the node in its left subtree. */
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
EXPORT_SYMBOL(rb_next);

/* The mirror image of rb_next(). */
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
EXPORT_SYMBOL(rb_prev);
