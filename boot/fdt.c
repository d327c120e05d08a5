/*
 * The flattened device tree: checking the header, walking nodes, reading properties (Devicetree
 * Specification 0.4, chapter 5).
 *
 *     header | reservations | structure block | strings block
 *     structure block:  BEGIN_NODE "name"  PROP len nameoff value...  BEGIN_NODE ... END_NODE  END_NODE  END
 *
 * A node is named by the offset of its BEGIN_NODE in the structure block, so no memory is needed
 * for a tree. fdt_open() checks once that both blocks lie within the given bytes; afterwards each
 * read is bounded by its block, whatever offsets and lengths the tree holds. Numbers in the tree
 * are big endian and aligned to four bytes.
 */
#include <boot/fdt.h>
#include <lib/errno.h>
#include <lib/string.h>

#define FDT_MAGIC      0xd00dfeed
#define FDT_BEGIN_NODE 1
#define FDT_END_NODE   2
#define FDT_PROP       3
#define FDT_NOP	       4
#define FDT_END	       9
#define FDT_VERSION    17 /* what we read, and what the tree must claim to be compatible with */
#define MAX_DEPTH      16

struct fdt_header {
	u32 magic, totalsize, off_struct, off_strings, off_rsvmap, version, last_comp_version, boot_cpuid;
	u32 size_strings, size_struct;
};

/* [boot] Offsets and sizes are checked: strings and structure lie within `size` bytes from base. */
static struct {
	const u8 *base;
	u32 size, structure, structure_size, strings, strings_size, reservations;
} tree;

static u32 be32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return __builtin_bswap32(v);
}
static u64 be64(const void *p)
{
	return (u64)be32(p) << 32 | be32((const u8 *)p + 4);
}

/*
 * Do `size` bytes at `offset` lie within `total`? The order of the two tests keeps the subtraction
 * from wrapping.
 */
static bool within(u32 offset, u32 size, u32 total)
{
	return offset <= total && size <= total - offset;
}

/*
 * Remembered answers to two questions that cost a walk of the tree and that drivers ask again and
 * again: what is the parent of a node, and which node has a phandle? Question and answer are one
 * 64-bit word that is read and written whole, so no lock is needed in any context: a reader sees
 * one pair or another, never half of each.
 */
struct memo {
	u32 question;
	int answer;
} __aligned(8);
static struct memo last_parent, last_phandle = {0, -1}; /* no node but the root, which has no parent, is at 0 */

/*
 * Relaxed is enough: the tree does not change after fdt_open(), so an old pair is as right as a new
 * one.
 */
static struct memo memo_read(const struct memo *memo)
{
	struct memo copy;

	__atomic_load((const u64 *)memo, (u64 *)&copy, __ATOMIC_RELAXED);
	return copy;
}

static void memo_write(struct memo *memo, u32 question, int answer)
{
	struct memo copy = {question, answer};

	__atomic_store((u64 *)memo, (u64 *)&copy, __ATOMIC_RELAXED);
}
static_assert(sizeof(struct memo) == sizeof(u64));

/*
 * The header is checked once, here; later reads rely on the blocks lying within the tree. What the blocks contain is
 * checked where it is read. Returns NULL, or what is wrong.
 */
const char *fdt_open(const void *base, size_t max)
{
	const struct fdt_header *h = base;

	tree.base = NULL;
	if (!base || ((unsigned long)base & 7))
		return "there is none, or not at a multiple of 8 bytes";
	if (max < sizeof(*h) || be32(&h->magic) != FDT_MAGIC)
		return "no magic number";
	if (be32(&h->totalsize) > max || be32(&h->totalsize) < sizeof(*h))
		return "its size makes no sense";
	if (be32(&h->version) < FDT_VERSION || be32(&h->last_comp_version) > FDT_VERSION)
		return "version is not 17 or compatible";
	tree.size = be32(&h->totalsize);
	tree.structure = be32(&h->off_struct);
	tree.structure_size = be32(&h->size_struct);
	tree.strings = be32(&h->off_strings);
	tree.strings_size = be32(&h->size_strings);
	tree.reservations = be32(&h->off_rsvmap);
	if (!within(tree.structure, tree.structure_size, tree.size) || (tree.structure & 3) ||
	    !within(tree.strings, tree.strings_size, tree.size) || tree.reservations > tree.size)
		return "a block lies outside it";
	tree.base = base;
	memo_write(&last_parent, 0, -1);
	memo_write(&last_phandle, 0, -1);
	if (fdt_next_node(-1, NULL) < 0)
		return "it has no root node";
	return NULL;
}

void fdt_move(const void *base)
{
	tree.base = base;
}

size_t fdt_size(void)
{
	return tree.size;
}

/* The structure block's token at `at`, FDT_END outside. */
static u32 token(u32 at)
{
	return tree.base && within(at, 4, tree.structure_size) ? be32(tree.base + tree.structure + at) : FDT_END;
}

/* A string in the structure block; NULL when it does not end there. */
static const char *struct_string(u32 at)
{
	const char *s = (const char *)tree.base + tree.structure + at;

	if (at >= tree.structure_size || strnlen(s, tree.structure_size - at) == tree.structure_size - at)
		return NULL;
	return s;
}

/* A property's name in the strings block; NULL when it does not end there. */
static const char *name_string(u32 at)
{
	const char *s = (const char *)tree.base + tree.strings + at;

	if (at >= tree.strings_size || strnlen(s, tree.strings_size - at) == tree.strings_size - at)
		return NULL;
	return s;
}

/*
 * The offset of the token after the one at `at`. When the one at `at` is cut off or is no token,
 * the result is the block's end, where token() reads FDT_END: so every walk ends, also in a damaged
 * tree.
 */
static u32 next_token(u32 at)
{
	const char *name;
	u32 len;

	switch (token(at)) {
	case FDT_BEGIN_NODE:
		name = struct_string(at + 4);
		return name ? at + 4 + ALIGN((u32)strlen(name) + 1, 4) : tree.structure_size;
	case FDT_PROP:
		if (!within(at, 12, tree.structure_size))
			return tree.structure_size;
		len = be32(tree.base + tree.structure + at + 4);
		return within(at + 12, len, tree.structure_size) ? at + 12 + ALIGN(len, 4) : tree.structure_size;
	case FDT_END:
		return tree.structure_size;
	case FDT_END_NODE:
	case FDT_NOP:
		return at + 4;
	default: /* not a token: nothing behind it can be trusted */
		return tree.structure_size;
	}
}

/*
 * Depth counts BEGIN_NODE and END_NODE tokens on the way. A caller that passes its depth on from
 * call to call sees it become 0 or less when the walk leaves the subtree that it began in.
 */
int fdt_next_node(int node, int *depth)
{
	u32 at = node < 0 ? 0 : next_token(node);
	int level = node < 0 || !depth ? 0 : *depth + 1;

	for (;; at = next_token(at)) {
		switch (token(at)) {
		case FDT_BEGIN_NODE:
			if (!struct_string(at + 4))
				return -1;
			if (depth)
				*depth = level;
			return at;
		case FDT_END_NODE:
			level--;
			break;
		case FDT_PROP:
		case FDT_NOP:
			break;
		default:
			return -1;
		}
	}
}

const char *fdt_node_name(int node)
{
	const char *name = struct_string(node + 4);

	return name ? name : "";
}

/*
 * Properties stand before the first child (5.4.2), so the search ends at the first other token. The
 * value is checked to lie within the block; its length is the tree's.
 */
const void *fdt_getprop(int node, const char *name, int *len)
{
	if (node < 0)
		return NULL;
	for (u32 at = next_token(node); token(at) == FDT_PROP || token(at) == FDT_NOP; at = next_token(at)) {
		const u8 *p = tree.base + tree.structure + at;
		const char *prop;

		if (token(at) == FDT_NOP)
			continue;
		if (!within(at, 12, tree.structure_size) || !within(at + 12, be32(p + 4), tree.structure_size))
			return NULL;
		prop = name_string(be32(p + 8));
		if (!prop || strcmp(prop, name))
			continue;
		if (len)
			*len = be32(p + 4);
		return p + 12;
	}
	return NULL;
}

const char *fdt_getstring(int node, const char *name)
{
	int len;
	const char *s = fdt_getprop(node, name, &len);

	return s && len > 0 && !s[len - 1] ? s : NULL;
}

int fdt_read_cell(int node, const char *name, unsigned i, u32 *value)
{
	int len;
	const u8 *p = fdt_getprop(node, name, &len);

	if (!p)
		return -ENOENT;
	if ((u64)len < (u64)i * 4 + 4)
		return -EINVAL;
	*value = be32(p + i * 4);
	return 0;
}

int fdt_read_u32(int node, const char *name, u32 *value)
{
	return fdt_read_cell(node, name, 0, value);
}

int fdt_read_number(int node, const char *name, u64 *value)
{
	int len;
	const u8 *p = fdt_getprop(node, name, &len);

	if (!p)
		return -ENOENT;
	if (len != 4 && len != 8)
		return -EINVAL;
	*value = len == 4 ? be32(p) : be64(p);
	return 0;
}

/*
 * Find the parent of `node` by a walk from `from`, whose own parent is `above`. path[] holds the
 * last node seen at each depth, so the parent is one step up from where `node` is found. Returns -1
 * if `node` is not at or below the siblings of `from`, or is too deep.
 */
static int walk_to_parent(int node, int from, int above)
{
	int path[MAX_DEPTH], depth = 0;

	for (int n = from; n >= 0 && depth >= 0 && depth < MAX_DEPTH; n = fdt_next_node(n, &depth)) {
		path[depth] = n;
		if (n == node)
			return depth ? path[depth - 1] : above;
	}
	return -1;
}

/*
 * The tree has no links upward, so the way to a parent is a walk from the root. Drivers are probed
 * in the order of nodes, so the walk mostly goes on from the node of the last question.
 */
int fdt_parent(int node)
{
	struct memo last = memo_read(&last_parent);
	int parent = -1;

	if (node <= 0)
		return -1;
	if (last.question && node >= (int)last.question)
		parent = walk_to_parent(node, last.question, last.answer);
	if (parent < 0)
		parent = walk_to_parent(node, fdt_next_node(-1, NULL), -1);
	if (parent >= 0)
		memo_write(&last_parent, node, parent);
	return parent;
}

/*
 * The property is a list of strings, each with its zero, from the most specific to the most
 * general: "arm,gic-400\0arm,cortex-a15-gic\0". The last one may lack its zero in a damaged tree
 * and then does not match.
 */
bool fdt_is_compatible(int node, const char *compatible)
{
	int len;
	const char *s = fdt_getprop(node, "compatible", &len);
	size_t want = strlen(compatible) + 1;

	while (s && len > 0) {
		size_t n = strnlen(s, len) + 1;

		if (n == want && n <= (size_t)len && !memcmp(s, compatible, n))
			return true;
		s += n;
		len -= n;
	}
	return false;
}

bool fdt_is_available(int node)
{
	const char *status = fdt_getstring(node, "status");

	return !fdt_getprop(node, "status", NULL) || (status && (!strcmp(status, "okay") || !strcmp(status, "ok")));
}

int fdt_next_compatible(int node, const char *compatible)
{
	while ((node = fdt_next_node(node, NULL)) >= 0)
		if (fdt_is_compatible(node, compatible))
			return node;
	return -1;
}

int fdt_phandle_node(u32 phandle)
{
	struct memo last = memo_read(&last_phandle);
	u32 v;

	if (last.question == phandle && last.answer >= 0)
		return last.answer;
	for (int n = fdt_next_node(-1, NULL); n >= 0; n = fdt_next_node(n, NULL)) {
		if (fdt_read_u32(n, "phandle", &v) || v != phandle)
			continue;
		memo_write(&last_phandle, phandle, n);
		return n;
	}
	return -1;
}

/* An entry of two zeros ends the block. */
bool fdt_reservation(unsigned i, u64 *base, u64 *size)
{
	u64 at = tree.reservations + (u64)i * 16;

	if (!tree.base || at + 16 > tree.size)
		return false;
	*base = be64(tree.base + at);
	*size = be64(tree.base + at + 8);
	return *base || *size;
}
