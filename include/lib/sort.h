/* In-place sorting (heapsort: no recursion, no allocation, O(n log n) always) and binary search. */
#pragma once

#include <lib/types.h>

void sort(void *base, size_t num, size_t size, int (*cmp)(const void *a, const void *b));
void *bsearch(const void *key, const void *base, size_t num, size_t size,
	      int (*cmp)(const void *key, const void *elt));
