/* realloc(), in the place of the one in newlib's small allocator. */
#include <malloc.h>
#include <reent.h>
#include <string.h>

/*
 * newlib 3.3's nano realloc copies as many bytes as the new block has, not the old one: when the old block is
 * the last on the heap, that reads beyond the break and faults. The linker (--wrap) puts this in its place
 * for every caller, newlib's own included. A block never shrinks: growing it again costs nothing then.
 */
void *__wrap__realloc_r(struct _reent *reent, void *old, size_t size)
{
	size_t had = old ? _malloc_usable_size_r(reent, old) : 0;
	void *p;

	if (old && !size) {
		_free_r(reent, old);
		return NULL;
	}
	if (old && had >= size)
		return old;
	p = _malloc_r(reent, size);
	if (p && old) {
		memcpy(p, old, had);
		_free_r(reent, old);
	}
	return p;
}
