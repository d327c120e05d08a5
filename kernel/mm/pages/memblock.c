/*
 * Memory at boot, before the page allocator: the regions of RAM, and what in them is taken. Two sorted lists hold them;
 * free memory is what is in the first and not in the second. Allocation takes the lowest gap that is large enough and
 * never gives it back. page_alloc_init() walks the free runs once and hands them over; from then on this allocator must
 * not be used.
 *
 * Boot CPU only, so there is no lock. Lack of room panics: at this point nothing could go on without it.
 */
#include <kernel/panic.h>
#include <lib/string.h>
#include <mm/page.h>

#include "../internal.h"

#define MAX_REGIONS 128

struct region {
	phys_addr_t base, end;
};
/* Regions in ascending order that neither overlap nor touch. */
struct region_list {
	struct region r[MAX_REGIONS];
	unsigned n;
};
static struct region_list ram, taken;

/*
 * Put [base, end) into the list, united with every region that it overlaps or touches: those are list->r[first..last).
 */
static void region_insert(struct region_list *list, phys_addr_t base, phys_addr_t end)
{
	unsigned first = 0, last;

	while (first < list->n && list->r[first].end < base)
		first++;
	for (last = first; last < list->n && list->r[last].base <= end; last++) {
		base = min(base, list->r[last].base);
		end = max(end, list->r[last].end);
	}
	if (first == last && list->n == MAX_REGIONS)
		panic("memblock: more than %d regions", MAX_REGIONS);
	memmove(&list->r[first + 1], &list->r[last], (list->n - last) * sizeof(list->r[0]));
	list->n -= last - first;
	list->n++;
	list->r[first] = (struct region){base, end};
}

/* Only whole pages count as RAM. */
void memblock_add(phys_addr_t base, u64 size)
{
	phys_addr_t end = ALIGN_DOWN(base + size, PAGE_SIZE);

	base = ALIGN(base, PAGE_SIZE);
	if (base < end)
		region_insert(&ram, base, end);
}

void memblock_reserve(phys_addr_t base, u64 size)
{
	if (size)
		region_insert(&taken, base, base + size);
}

/*
 * The lowest place in [base, end) for `size` bytes that nothing taken overlaps, or 0. The taken regions come in
 * ascending order, so each collision moves the candidate behind the region.
 */
static phys_addr_t find_gap(phys_addr_t base, phys_addr_t end, u64 size, u64 align)
{
	base = ALIGN(base, align);
	for (unsigned i = 0; i < taken.n; i++) {
		if (taken.r[i].end <= base)
			continue;
		if (taken.r[i].base >= base + size)
			break;
		base = ALIGN(taken.r[i].end, align);
	}
	return base + size <= end ? base : 0;
}

/* The memory is zeroed through the linear map, which must be there. */
phys_addr_t memblock_alloc(u64 size, u64 align)
{
	for (unsigned i = 0; i < ram.n; i++) {
		/* Address 0 means that there is no room, so the first page is never handed out. */
		phys_addr_t at = find_gap(max(ram.r[i].base, (phys_addr_t)PAGE_SIZE), ram.r[i].end, size, align);

		if (at) {
			memblock_reserve(at, size);
			memset(__va(at), 0, size);
			return at;
		}
	}
	panic("memblock: no %llu bytes of memory left", (unsigned long long)size);
}

phys_addr_t memblock_start(void)
{
	return ram.n ? ram.r[0].base : 0;
}

phys_addr_t memblock_end(void)
{
	return ram.n ? ram.r[ram.n - 1].end : 0;
}

bool memblock_region(unsigned i, phys_addr_t *base, u64 *size)
{
	if (i >= ram.n)
		return false;
	*base = ram.r[i].base;
	*size = ram.r[i].end - ram.r[i].base;
	return true;
}

/*
 * `at` moves through a region of RAM. A taken region that begins behind it ends the free run; one that covers it moves
 * `at` behind its end.
 */
bool memblock_next_free(phys_addr_t *base, phys_addr_t *end)
{
	phys_addr_t from = *end;

	for (unsigned i = 0; i < ram.n; i++) {
		phys_addr_t at = max(from, ram.r[i].base);

		/* A page that is taken in part is taken. */
		for (unsigned t = 0; t < taken.n && at < ram.r[i].end; t++) {
			phys_addr_t low = ALIGN_DOWN(taken.r[t].base, PAGE_SIZE);

			if (low > at) {
				*base = at;
				*end = min(low, ram.r[i].end);
				return true;
			}
			at = max(at, ALIGN(taken.r[t].end, PAGE_SIZE));
		}
		if (at < ram.r[i].end) {
			*base = at;
			*end = ram.r[i].end;
			return true;
		}
	}
	return false;
}
