/*
 * Heapsort and binary search. Heapsort needs no recursion and no memory, and O(n log n) steps always: a user who
 * chooses the data cannot make it slow. It does not keep equal elements in order.
 */
#include <kernel/export.h>
#include <lib/sort.h>

/* Exchange two elements, eight bytes at a time where size and addresses allow it. */
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

/* Let the element at `root` sink until neither of its children in [0, num) is larger. */
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

/*
 * First make a heap of all elements, from the last parent upwards; the largest is at the front then. Then move the
 * largest behind the rest, again and again.
 */
void sort(void *base, size_t num, size_t size, int (*cmp)(const void *a, const void *b))
{
	for (size_t i = num / 2; i--;)
		sift_down(base, i, num, size, cmp);
	for (size_t end = num; end-- > 1;) {
		swap_elements(base, (u8 *)base + end * size, size);
		sift_down(base, 0, end, size, cmp);
	}
}
EXPORT_SYMBOL(sort);

/*
 * [low, low + num) is what may still hold the key. When the key is larger than the middle, the middle goes too, and
 * `num--` accounts for it before the halving.
 */
void *bsearch(const void *key, const void *base, size_t num, size_t size, int (*cmp)(const void *key, const void *elt))
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
