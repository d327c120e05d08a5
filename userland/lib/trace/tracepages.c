/*
 * Records in the pages of a CPU's ring buffer, one after the other (docs/raw.md).
 *
 *     page:   time (8) | flags and bytes used (8) | entry | entry | ... | unused
 *     entry:  one word: kind in the lower 5 bits, time since the entry before (ns) in the upper 27; then content
 *
 * Kinds 1 to 28 are records of that many words. Kind 0 is a longer record, whose next word is its
 * length. 29 is padding: an entry that was given up, or with time 0 the end of the page. 30 adds to
 * the time what does not fit into 27 bits (134 ms), and 31 holds the full time.
 *
 * A page may come from a damaged file: each entry is checked to lie within its page.
 */
#include <vt_report.h>

/*
 * The kernel sets LOST in a page's second word when records were overwritten before this page. With
 * LOST_STORED their number stands in the 8 bytes behind the last entry.
 */
#define HEAD	    16 /* of a page: its time, and how much is in it */
#define LOST	    (1ul << 31)
#define LOST_STORED (1ul << 30)

enum {
	LENGTH_IN_WORD = 0,
	PADDING = 29,
	TIME_EXTEND = 30,
	TIME_STAMP = 31,
};

/* One entry of a page: its kind, what it says, and where the next one is. */
struct entry {
	unsigned kind, delta, size;
	const unsigned char *data, *next;
};

/*
 * Take the entry at `at` apart. Returns false at the end of the page, and also for an entry that would
 * lie beyond it. The length of a long record counts its own word, hence the 4 that are taken off.
 */
static bool entry_at(const unsigned char *at, const unsigned char *end, struct entry *e)
{
	unsigned word;

	if (end - at < 8)
		return false;
	word = (unsigned)vt_take_number(at, 4);
	e->kind = word & 31;
	e->delta = word >> 5;
	e->data = at + 4;
	if (e->kind == LENGTH_IN_WORD || e->kind == PADDING) {
		if (e->kind == PADDING && !e->delta)
			return false;
		e->size = (unsigned)vt_take_number(at + 4, 4);
		/* A record has four bytes at least, those that name its event. */
		if (e->size < (e->kind == PADDING ? 4 : 8) || e->size > end - e->data)
			return false;
		e->next = at + 4 + (e->size + 3) / 4 * 4;
		e->data += 4;
		e->size -= 4;
	} else {
		e->size = e->kind < PADDING ? e->kind * 4 : 4;
		e->next = at + 4 + e->size;
	}
	return e->next <= end;
}

/*
 * Begin the next page that has records. Pages without records are stepped over, and what they say of
 * losses is kept for the next record. Returns false when the CPU has no more pages.
 */
static bool next_page(const struct vt_dat_file *f, struct vt_cpu *cpu)
{
	while (cpu->end - cpu->pages >= f->page_size) {
		const unsigned char *page = cpu->pages;
		unsigned long flags = vt_take_number(page + 8, 8), n = flags & 0xfffff;

		cpu->pages += f->page_size;
		if (n > f->page_size - HEAD)
			vt_die(1, "%s: broken at %lu", f->path, (unsigned long)(page - f->data));
		cpu->ts = vt_take_number(page, 8);
		cpu->at = page + HEAD;
		cpu->page_end = cpu->at + n;
		if (flags & LOST)
			cpu->lost = flags & LOST_STORED && n + 8 <= f->page_size - HEAD
					    ? (long)vt_take_number(cpu->page_end, 8)
					    : -1;
		if (n)
			return true;
	}
	return false;
}

/*
 * Times within a page are relative: each entry adds its difference, so entries that are not records
 * count as well. A time stamp has 59 bits; the upper 5 stay as they were.
 */
bool vt_cpu_next(const struct vt_dat_file *f, struct vt_cpu *cpu)
{
	struct entry e;

	if (cpu->data) /* the last one's losses have been told */
		cpu->lost = 0;
	cpu->data = NULL;
	for (;;) {
		if (cpu->at == cpu->page_end || !entry_at(cpu->at, cpu->page_end, &e)) {
			if (!next_page(f, cpu))
				return false;
			continue;
		}
		cpu->at = e.next;
		if (e.kind == TIME_STAMP)
			cpu->ts = (cpu->ts & ~((1ull << 59) - 1)) | vt_take_number(e.data, 4) << 27 | e.delta;
		else
			cpu->ts += e.delta + (e.kind == TIME_EXTEND ? vt_take_number(e.data, 4) << 27 : 0);
		if (e.kind < PADDING) {
			cpu->data = e.data;
			cpu->size = e.size;
			return true;
		}
	}
}
