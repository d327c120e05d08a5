/* The device tree's nodes: parents and phandles, asked for in any order, of a tree whose shape is known. */
/* sources: */
/* include: tests/unit/include-mm */
#include "host_test.h"

#include "../../boot/fdt.c"

#define NODES	60
#define DEEPEST 6

static u8 blob[16384] __aligned(8);
static u32 end; /* of what is written */
static int node_at[NODES], parent_of[NODES], nr_nodes;

static void put32(u32 v)
{
	v = __builtin_bswap32(v);
	memcpy(blob + end, &v, sizeof(v));
	end += sizeof(v);
}

static void put_u32_property(u32 name, u32 value)
{
	put32(FDT_PROP);
	put32(sizeof(value));
	put32(name);
	put32(value);
}

/* A node with "phandle" 100 + its number, and children while there are any left to give away. */
static void put_node(int parent, int depth, u32 structure)
{
	int me = nr_nodes++;

	node_at[me] = end - structure;
	parent_of[me] = parent;
	put32(FDT_BEGIN_NODE);
	put32(me ? 0x61000000 : 0); /* "a", or the root's empty name */
	if (me % 3)
		put32(FDT_NOP);
	put_u32_property(0, 100 + me);
	while (nr_nodes < NODES && depth < DEEPEST && (!depth || host_random() % 3))
		put_node(me, depth + 1, structure);
	put32(FDT_END_NODE);
}

static void make_tree(void)
{
	u32 structure = 64, strings, header[10];

	memset(blob, 0, sizeof(blob));
	nr_nodes = 0;
	end = structure;
	put_node(-1, 0, structure);
	put32(FDT_END);
	strings = end;
	memcpy(blob + strings, "phandle", 8);
	/* magic, size, structure, strings, reservations, versions, boot CPU, sizes of strings and structure
	 */
	memcpy(header, (u32[]){FDT_MAGIC, strings + 8, structure, strings, 48, 17, 16, 0, 8, strings - structure},
	       sizeof(header));
	end = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(header); i++)
		put32(header[i]);
	assert_null(fdt_open(blob, sizeof(blob)));
}

static void check_parent(int i)
{
	assert_int_equal(fdt_parent(node_at[i]), parent_of[i] < 0 ? -1 : node_at[parent_of[i]]);
}

static void check_phandle(int i)
{
	assert_int_equal(fdt_phandle_node(100 + i), i < nr_nodes ? node_at[i] : -1);
}

static void test_parents_and_phandles(void **state)
{
	for (int tree_number = 0; tree_number < 50; tree_number++) {
		make_tree();
		assert_int_equal(nr_nodes, NODES);
		for (int i = 0; i < nr_nodes; i++) /* as drivers are looked for */
			check_parent(i);
		for (int i = nr_nodes - 1; i >= 0; i--)
			check_parent(i);
		for (int n = 0; n < 500; n++) {
			check_parent(host_random() % nr_nodes);
			check_phandle(host_random() % (nr_nodes + 2));
			check_phandle(n / 7 % nr_nodes);
		}
		assert_int_equal(fdt_parent(-1), -1);
		assert_int_equal(fdt_parent(node_at[nr_nodes - 1] + 4), -1); /* no node begins there */
		check_parent(nr_nodes - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parents_and_phandles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
