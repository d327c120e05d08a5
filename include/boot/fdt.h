/*
 * Reading a flattened device tree (Devicetree Specification 0.4, chapter 5). One tree, checked once;
 * afterwards every read stays within it, whatever it holds. Nodes are offsets into the structure block, -1 is
 * no node. Any context, no locks.
 */
#pragma once

#include <lib/types.h>

/* Use the tree at `base`; it may be up to `max` bytes long. NULL, or what is wrong with it. Boot. */
const char *fdt_open(const void *base, size_t max);
/* The same tree at another address. Boot. */
void fdt_move(const void *base);
size_t fdt_size(void);

/*
 * The next node in document order, or -1; -1 starts at the root. If `depth` is not NULL, *depth
 * moves with the walk: 0 for the node that it began with (or the root), 1 for its children.
 */
int fdt_next_node(int node, int *depth);
const char *fdt_node_name(int node); /* with unit address */
/* -1 for the root. Costs a walk of the tree, unless nodes are asked about in document order. */
int fdt_parent(int node);
/* By full path or, without leading '/', alias; an ":options" tail is left out. */
int fdt_path_node(const char *path);
int fdt_phandle_node(u32 phandle);
/* The first node that lists `compatible`, in document order; then the next. -1. */
int fdt_next_compatible(int node, const char *compatible);
#define fdt_find_compatible(c) fdt_next_compatible(-1, c)
bool fdt_is_compatible(int node, const char *compatible);
bool fdt_is_available(int node); /* status is absent or "okay" */

/* Value and its length in bytes (may be NULL to ignore); NULL when the node has no such property. */
const void *fdt_getprop(int node, const char *name, int *len);
/* A property that is a string with its zero; else NULL. */
const char *fdt_getstring(int node, const char *name);
/* The first cell. 0, -ENOENT, -EINVAL (too short). */
int fdt_read_u32(int node, const char *name, u32 *value);
/* Cell i of a property. 0, -ENOENT, -EINVAL (beyond its end). */
int fdt_read_cell(int node, const char *name, unsigned i, u32 *value);
/* A number of one or two cells, by the property's length. */
int fdt_read_number(int node, const char *name, u64 *value);
/* Register range i as CPU physical address, through the `ranges` of all parents. 0, -ENOENT, -EINVAL. */
int fdt_read_reg(int node, unsigned i, u64 *base, u64 *size);
/* Entry i of the memory reservation block, in physical bytes. False past the last entry. */
bool fdt_reservation(unsigned i, u64 *base, u64 *size);
