/*
 * Paths and addresses in the device tree: what needs the nodes around a node.
 *
 * An address in `reg` counts on the bus that the node is on. To get the CPU's address, each bus
 * above translates it by its `ranges`, a list of windows (address on the bus below, address on the
 * bus above, size). How many 32-bit cells each number has is said by the parent's #address-cells
 * and #size-cells.
 */
#include <boot/fdt.h>
#include <lib/errno.h>
#include <lib/string.h>

/* The child of `parent` whose name is the `len` bytes at `name`, with or without a unit address. */
static int child_named(int parent, const char *name, size_t len)
{
	int depth = 0;

	for (int n = fdt_next_node(parent, &depth); n >= 0 && depth > 0; n = fdt_next_node(n, &depth)) {
		const char *s = fdt_node_name(n);

		if (depth == 1 && !strncmp(s, name, len) && (!s[len] || (s[len] == '@' && !memchr(name, '@', len))))
			return n;
	}
	return -1;
}

/* The length of a path's component: up to the next '/', the options behind ':', or the end. */
static size_t component_length(const char *path)
{
	size_t n = 0;

	while (path[n] && path[n] != '/' && path[n] != ':')
		n++;
	return n;
}

/*
 * "serial0:115200" is an alias with options; /aliases says what path it stands for. An alias of an
 * alias is not followed, so a circle cannot be built.
 */
int fdt_path_node(const char *path)
{
	int node = fdt_next_node(-1, NULL);
	size_t len;

	if (*path != '/') {
		char alias[32];
		const char *target;

		len = component_length(path);
		if (len >= sizeof(alias))
			return -1;
		memcpy(alias, path, len);
		alias[len] = 0;
		target = fdt_getstring(child_named(node, "aliases", 7), alias);
		if (!target || *target != '/')
			return -1;
		path = target;
	}
	while (node >= 0 && *path == '/') {
		path++;
		len = component_length(path);
		if (len)
			node = child_named(node, path, len);
		path += len;
	}
	return node;
}

/*
 * How many cells addresses and sizes have in the children of a node. The specification's defaults
 * are 2 and 1; they are not inherited (2.3.5).
 */
static void child_cells(int node, u32 *address, u32 *size)
{
	if (fdt_read_u32(node, "#address-cells", address))
		*address = 2;
	if (fdt_read_u32(node, "#size-cells", size))
		*size = 1;
}

/*
 * Read a number of `count` cells (0, 1 or 2) from cell `i` of a property; with a count of 0 the
 * number is 0. Returns 0, -ENOENT without the property, -EINVAL when the number has more than 64
 * bits or lies beyond the property's end.
 */
static int read_cells(int node, const char *name, unsigned i, unsigned count, u64 *value)
{
	*value = 0;
	if (count > 2)
		return -EINVAL;
	while (count--) {
		u32 cell;
		int err = fdt_read_cell(node, name, i++, &cell);

		if (err)
			return err;
		*value = *value << 32 | cell;
	}
	return 0;
}

/*
 * Turn an address on the bus below `bus` into one on the bus above. Returns 0, or -EINVAL when no window of `ranges`
 * holds it: the CPU cannot reach such a device. The loop ends at the property's end, where read_cells() fails, unless a
 * window was found before; in a damaged tree, sizes of no cells could keep it from moving on, and hold nothing anyway.
 */
static int translate(int bus, u64 *address)
{
	u32 child_address, child_size, parent_address, parent_size;
	u64 child, parent, size;
	int len;

	if (!fdt_getprop(bus, "ranges", &len))
		return -EINVAL;
	if (!len)
		return 0; /* the same addresses */
	child_cells(bus, &child_address, &child_size);
	child_cells(fdt_parent(bus), &parent_address, &parent_size);
	if (!child_size)
		return -EINVAL;
	for (unsigned i = 0;; i += child_address + parent_address + child_size) {
		if (read_cells(bus, "ranges", i, child_address, &child) ||
		    read_cells(bus, "ranges", i + child_address, parent_address, &parent) ||
		    read_cells(bus, "ranges", i + child_address + parent_address, child_size, &size))
			return -EINVAL;
		if (*address >= child && *address - child < size) {
			*address = *address - child + parent;
			return 0;
		}
	}
}

/*
 * The root's children have CPU addresses, so translation ends below the root. A range without cells for its address is
 * none, though each of any number of them could be read: callers go on until there is an error.
 */
int fdt_read_reg(int node, unsigned i, u64 *base, u64 *size)
{
	int bus = fdt_parent(node), err;
	u32 address_cells, size_cells;
	unsigned at;

	child_cells(bus, &address_cells, &size_cells);
	if (!address_cells)
		return -EINVAL;
	at = i * (address_cells + size_cells);
	err = read_cells(node, "reg", at, address_cells, base);
	if (!err)
		err = read_cells(node, "reg", at + address_cells, size_cells, size);
	for (; !err && fdt_parent(bus) >= 0; bus = fdt_parent(bus))
		err = translate(bus, base);
	return err;
}
