/* Heapsort and binary search. */
#include <lib/sort.h>

static void swap_elements(u8 *a, u8 *b, size_t size)
{
	if (size % 8 == 0 && !(((unsigned long)a | (unsigned long)b) & 7)) {
		for (; size; size -= 8, a += 8, b += 8)
			swap(*(u64 *)a, *(u64 *)b);
		return;
	}
	for (; size; size--, a++, b++)
		swap(*a, *b);
}

/* Let the element at `root` sink until both its children in [0, num) are no larger. */
static void sift_down(u8 *base, size_t root, size_t num, size_t size, int (*cmp)(const void *, const void *))
{
	for (;;) {
		size_t child = 2 * root + 1;

		if (child >= num)
			return;
		if (child + 1 < num && cmp(base + child * size, base + (child + 1) * size) < 0)
			child++;
		if (cmp(base + root * size, base + child * size) >= 0)
			return;
		swap_elements(base + root * size, base + child * size, size);
		root = child;
	}
}

void sort(void *base, size_t num, size_t size, int (*cmp)(const void *a, const void *b))
{
	for (size_t i = num / 2; i--;)
		sift_down(base, i, num, size, cmp);
	for (size_t end = num; end-- > 1;) {
		swap_elements(base, (u8 *)base + end * size, size);
		sift_down(base, 0, end, size, cmp);
	}
}

void *bsearch(const void *key, const void *base, size_t num, size_t size,
	      int (*cmp)(const void *key, const void *elt))
{
	const u8 *low = base;

	while (num) {
		const u8 *middle = low + num / 2 * size;
		int order = cmp(key, middle);

		if (!order)
			return (void *)middle;
		if (order > 0) {
			low = middle + size;
			num--;
		}
		num /= 2;
	}
	return NULL;
}
