/*
 * The device tree's nodes: parents and phandles, asked for in any order, of a tree whose shape the test knows; trees
 * that are just valid or just not; registers behind buses. The test writes a tree's bytes itself, because what dtc
 * makes never has these edges.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include "host_test.h"

#include "../../../boot/fdt.c"
#include "../../../boot/fdt_address.c"

#define NODES	60
#define DEEPEST 6

#define STRUCTURE 64 /* where the structure block begins; the list of reservations lies in front of it */

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

static const char names[] = "phandle\0reg\0ranges\0#address-cells\0#size-cells";
enum { PHANDLE = 0, REG = 8, RANGES = 12, ADDRESS_CELLS = 19, SIZE_CELLS = 34 }; /* where they are in names[] */

/* The block of names, and the header in front of a structure block that begins at STRUCTURE and ends at `end`. */
static void finish_tree(void)
{
	u32 structure = STRUCTURE, strings = end, header[10];

	memcpy(blob + strings, names, sizeof(names));
	/* magic, size, structure, strings, reservations, versions, boot CPU, sizes of strings and structure
	 */
	memcpy(header,
	       (u32[]){FDT_MAGIC, strings + sizeof(names), structure, strings, 48, 17, 16, 0, sizeof(names),
		       strings - structure},
	       sizeof(header));
	end = 0;
	for (unsigned i = 0; i < ARRAY_SIZE(header); i++)
		put32(header[i]);
}

static void begin_tree(void)
{
	memset(blob, 0, sizeof(blob));
	end = STRUCTURE;
}

static void make_tree(void)
{
	begin_tree();
	nr_nodes = 0;
	put_node(-1, 0, STRUCTURE);
	put32(FDT_END);
	finish_tree();
	assert_null(fdt_open(blob, sizeof(blob)));
}

static void check_parent(int i)
{
	assert_int_equal(fdt_parent(node_at[i]), parent_of[i] < 0 ? -1 : node_at[parent_of[i]]);
	if (i) /* the answer is remembered: the next walk begins here */
		assert_int_equal(memo_read(&last_parent).question, node_at[i]);
}

static void check_phandle(int i)
{
	assert_int_equal(fdt_phandle_node(100 + i), i < nr_nodes ? node_at[i] : -1);
}

/*
 * Fifty random trees. Each question for a parent or a phandle must have the answer that the test has noted while it
 * wrote the tree, in the order in which drivers ask, backwards and at random: the answers are remembered between
 * questions, so a wrong memo shows only in some orders.
 */
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

static void put_at(u32 at, u32 v)
{
	u32 was = end;

	end = at;
	put32(v);
	end = was;
}

/*
 * A header of the smallest size, one byte less, a reservation above 4 GiB, and a node that stands behind the end of
 * the structure block. The last would be read as a device if only the tokens were looked at.
 */
static void test_headers_at_the_edge(void **state)
{
	u64 base = 0, size = 0;

	make_tree();
	put_at(4,
	       sizeof(struct fdt_header)); /* a header and nothing else: of a size that makes sense, without blocks */
	assert_string_equal(fdt_open(blob, sizeof(blob)), "a block lies outside it");
	put_at(4, sizeof(struct fdt_header) - 1);
	assert_string_equal(fdt_open(blob, sizeof(blob)), "its size makes no sense");
	make_tree();
	put_at(48, 1); /* a reservation above 4 GiB */
	put_at(52, 0x80000000);
	put_at(56, 2);
	put_at(60, 0x1000);
	assert_null(fdt_open(blob, sizeof(blob)));
	assert_true(fdt_reservation(0, &base, &size));
	assert_int_equal(base, 0x180000000);
	assert_int_equal(size, 0x200001000);
	/* What follows the structure block is not part of it, though it looks like a node. */
	begin_tree();
	put32(FDT_BEGIN_NODE);
	put32(0);
	finish_tree();
	memcpy(blob + STRUCTURE + 8, "\0\0\0\1a\0\0", 8);
	assert_null(fdt_open(blob, sizeof(blob)));
	assert_int_equal(fdt_next_node(0, NULL), -1);
	fdt_move(NULL);
	assert_int_equal(fdt_next_node(-1, NULL), -1);
}

static void put_cells(u32 name, const u32 *cells, unsigned n)
{
	put32(FDT_PROP);
	put32(n * sizeof(u32));
	put32(name);
	for (unsigned i = 0; i < n; i++)
		put32(cells[i]);
}

/* A bus with these ranges (NULL: without the property) and a device on it at 0x1100; fdt_read_reg()'s answer. */
static int read_behind_bus(const u32 *ranges, unsigned n, u64 *base, u64 *size)
{
	int device;

	begin_tree();
	put32(FDT_BEGIN_NODE);
	put32(0);
	put32(FDT_BEGIN_NODE);
	put32(0x61000000);
	put_u32_property(ADDRESS_CELLS, 1);
	put_u32_property(SIZE_CELLS, 1);
	if (ranges)
		put_cells(RANGES, ranges, n);
	device = end - STRUCTURE;
	put32(FDT_BEGIN_NODE);
	put32(0x61000000);
	put_cells(REG, (const u32[]){0x1100, 0x20}, 2);
	for (unsigned i = 0; i < 3; i++)
		put32(FDT_END_NODE);
	put32(FDT_END);
	finish_tree();
	assert_null(fdt_open(blob, sizeof(blob)));
	return fdt_read_reg(device, 0, base, size);
}

/* Addresses behind a bus: child address, two cells of the parent's, size. */
static void test_ranges(void **state)
{
	static const u32 windows[] = {0x5000,  0,     0x90000000, 0x1000, 0x800,      0,
				      0x10000, 0x100, 0x1000,	  8,	  0x20000000, 0x101};
	u64 base, size;

	assert_int_equal(read_behind_bus(windows, ARRAY_SIZE(windows), &base, &size), 0);
	assert_int_equal(base, 0x820000100);
	assert_int_equal(size, 0x20);
	assert_int_equal(read_behind_bus(windows, 8, &base, &size), -EINVAL); /* no window holds it */
	assert_int_equal(read_behind_bus(windows, 0, &base, &size), 0);
	assert_int_equal(base, 0x1100);
	assert_int_equal(read_behind_bus(NULL, 0, &base, &size), -EINVAL); /* not in the CPU's reach */
}

static void begin_bus(u32 address_cells, u32 size_cells, const u32 *ranges, unsigned n)
{
	put32(FDT_BEGIN_NODE);
	put32(0x61000000);
	put_u32_property(ADDRESS_CELLS, address_cells);
	put_u32_property(SIZE_CELLS, size_cells);
	put_cells(RANGES, ranges, n);
}

/* Numbers without cells are read without moving on in the property: they must not be read for ever. */
static void test_no_cells(void **state)
{
	u64 base, size;
	int device, other;

	begin_tree();
	put32(FDT_BEGIN_NODE);
	put32(0);
	put_u32_property(ADDRESS_CELLS, 0);
	begin_bus(0, 0, (const u32[]){1}, 1);
	begin_bus(1, 1, (const u32[]){0x1000, 0x1000}, 2);
	device = end - STRUCTURE;
	put32(FDT_BEGIN_NODE);
	put32(0x61000000);
	put_cells(REG, (const u32[]){0x1100, 0x20}, 2);
	put32(FDT_END_NODE);
	put32(FDT_END_NODE);
	other = end - STRUCTURE;
	put32(FDT_BEGIN_NODE);
	put32(0x61000000);
	for (unsigned i = 0; i < 3; i++)
		put32(FDT_END_NODE);
	put32(FDT_END);
	finish_tree();
	assert_null(fdt_open(blob, sizeof(blob)));
	assert_int_equal(fdt_read_reg(device, 0, &base, &size), -EINVAL);
	assert_int_equal(fdt_read_reg(other, 7, &base, &size), -EINVAL);
}

/* A path by its alias. What is no alias, and an alias that stands for no path, lead nowhere. */
static void test_aliases(void **state)
{
	int node;

	begin_tree();
	put32(FDT_BEGIN_NODE);
	put32(0);
	put32(FDT_BEGIN_NODE);
	put32(0x616c6961); /* "aliases" */
	put32(0x73657300);
	put_u32_property(REG, 0x2f610000);     /* reg = "/a" */
	put_u32_property(PHANDLE, 0x61000000); /* phandle = "a" */
	put32(FDT_END_NODE);
	node = end - STRUCTURE;
	put32(FDT_BEGIN_NODE);
	put32(0x61000000);
	put32(FDT_END_NODE);
	put32(FDT_END_NODE);
	put32(FDT_END);
	finish_tree();
	assert_null(fdt_open(blob, sizeof(blob)));
	assert_int_equal(fdt_path_node("/a"), node);
	assert_int_equal(fdt_path_node("reg:115200"), node);
	assert_int_equal(fdt_path_node("phandle"), -1);
	assert_int_equal(fdt_path_node("ranges"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parents_and_phandles),
		cmocka_unit_test(test_headers_at_the_edge),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_no_cells),
		cmocka_unit_test(test_aliases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
