/*
 * Sorting in place (heapsort: no recursion, no allocation, O(n log n) always) and binary search. Any context in which
 * `cmp` may be called.
 */
#pragma once

#include <lib/types.h>

/*
 * Sort `num` elements of `size` bytes. `cmp` returns a number below, equal to or above 0, as strcmp does. Equal
 * elements may change places.
 */
void sort(void *base, size_t num, size_t size, int (*cmp)(const void *a, const void *b));
/* An element of a sorted array for which `cmp` gives 0, or NULL. */
void *bsearch(const void *key, const void *base, size_t num, size_t size, int (*cmp)(const void *key, const void *elt));
