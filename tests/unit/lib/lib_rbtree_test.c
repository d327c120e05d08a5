/*
 * Red-black trees: after every random insertion and removal the rules of such a tree hold, the order is right, and the
 * first node is the cached one. Timers, runqueues and mappings are such trees; a tree that is only unbalanced works,
 * and is slow.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include "../../../kernel/lib/rbtree.c"

struct item {
	struct rb_node node;
	unsigned key, order;
};
#define item_of(n) rb_entry(n, struct item, node)

static bool less(const struct rb_node *a, const struct rb_node *b)
{
	return item_of(a)->key < item_of(b)->key;
}

/* Black nodes on every path below n; fails on a red node with a red child or a wrong parent pointer. */
static int check_subtree(const struct rb_node *n, const struct rb_node *parent)
{
	int left, right;

	if (!n)
		return 1;
	assert_ptr_equal(rb_parent(n), parent);
	if (is_red(n))
		assert_false(is_red(n->left) || is_red(n->right));
	left = check_subtree(n->left, n);
	right = check_subtree(n->right, n);
	assert_int_equal(left, right);
	return left + !is_red(n);
}

/* Forwards and backwards in order, equal keys as inserted. Returns how many there are. */
static unsigned check_order(const struct rb_root_cached *tree)
{
	struct rb_node *n, *prev = NULL;
	unsigned count = 0;

	assert_ptr_equal(rb_first_cached(tree), rb_first(&tree->root));
	for (n = rb_first(&tree->root); n; prev = n, n = rb_next(n), count++) {
		if (!prev)
			continue;
		assert_ptr_equal(rb_prev(n), prev);
		assert_true(item_of(prev)->key < item_of(n)->key ||
			    (item_of(prev)->key == item_of(n)->key && item_of(prev)->order < item_of(n)->order));
	}
	assert_ptr_equal(rb_last(&tree->root), prev);
	return count;
}

static void check_tree(const struct rb_root_cached *tree, unsigned count)
{
	assert_false(is_red(tree->root.node));
	check_subtree(tree->root.node, NULL);
	assert_int_equal(check_order(tree), count);
}

/*
 * Nodes of a set come and go at random; after each step the whole tree is looked at. `keys`: few of them make many
 * equal ones, which must stay in the order of their insertion.
 */
static void run_random(unsigned nr, unsigned keys, int rounds)
{
	struct rb_root_cached tree = RB_ROOT_CACHED;
	struct item *items = calloc(nr, sizeof(*items));
	unsigned count = 0;

	for (unsigned i = 0; i < nr; i++)
		RB_CLEAR_NODE(&items[i].node);
	for (int round = 0; round < rounds; round++) {
		struct item *it = &items[host_random() % nr];
		bool leftmost;

		if (RB_EMPTY_NODE(&it->node)) {
			it->key = host_random() % keys;
			it->order = round;
			leftmost = rb_add_cached(&it->node, &tree, less);
			assert_int_equal(leftmost, rb_first(&tree.root) == &it->node);
			count++;
		} else {
			rb_erase_cached(&it->node, &tree);
			RB_CLEAR_NODE(&it->node);
			count--;
		}
		check_tree(&tree, count);
	}
	free(items);
}

static void test_small_trees(void **state)
{
	for (int i = 0; i < 200; i++)
		run_random(1 + i % 12, 8, 200);
}

static void test_large_tree(void **state)
{
	run_random(300, 10000, 6000);
}

static void test_many_equal_keys(void **state)
{
	run_random(100, 3, 4000);
}

/*
 * Keys in ascending order, the worst case for a tree that does not balance; then the first is taken out until none is
 * left, as timers do.
 */
static void test_ascending_then_emptied(void **state)
{
	static struct item items[500];
	struct rb_root_cached tree = RB_ROOT_CACHED;

	for (unsigned i = 0; i < 500; i++) {
		items[i].key = items[i].order = i;
		rb_add_cached(&items[i].node, &tree, less);
		check_tree(&tree, i + 1);
	}
	for (unsigned i = 0; i < 500; i++) {
		rb_erase_cached(rb_first_cached(&tree), &tree);
		if (i < 499)
			check_tree(&tree, 499 - i);
	}
	assert_null(tree.root.node);
	assert_null(tree.leftmost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_trees),
		cmocka_unit_test(test_large_tree),
		cmocka_unit_test(test_many_equal_keys),
		cmocka_unit_test(test_ascending_then_emptied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
