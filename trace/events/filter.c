/*
 * Running filters. In probes: any context, NMI included, preemption off, so nothing here sleeps, takes a lock or can
 * fail.
 *
 * A filter is a program: an array of terms, each with the number of the next term for true and for false; `nr` means
 * the record matches, and a number above it that it does not. filter_parse.c makes it. Most filters compare numbers,
 * which is why those have a way of their own, without calls.
 */
#include <lib/string.h>
#include <sched/sched.h>

#include "filter.h"

#define PTR_STRING_MAX	4096 /* bytes of a text behind a pointer that are looked at */
#define USER_STRING_MAX 512  /* and of one in a program's memory, which is copied to the stack */

/* The difference is computed in the field's width, so signed fields need nothing special: see set_range(). */
static __always_inline bool in_range(const struct filter_pred *p, const void *at)
{
	switch (p->size) {
	case 1:
		return (u8)(*(const u8 *)at - p->low) <= p->span;
	case 2:
		return (u16)(*(const u16 *)at - p->low) <= p->span;
	case 4:
		return (u32)(*(const u32 *)at - p->low) <= p->span;
	default:
		return *(const u64 *)at - p->low <= p->span;
	}
}

/* The operator &: any of these bits. */
static __always_inline bool has_bits(const struct filter_pred *p, const void *at)
{
	switch (p->size) {
	case 1:
		return *(const u8 *)at & p->low;
	case 2:
		return *(const u16 *)at & p->low;
	case 4:
		return *(const u32 *)at & p->low;
	default:
		return *(const u64 *)at & p->low;
	}
}

/*
 * A term about a number: a range, perhaps the reverse of one, or bits. The parser has turned ==, < and the others into
 * these.
 */
static __always_inline bool compare(const struct filter_pred *p, const void *at)
{
	if (p->op == OP_BAND)
		return has_bits(p, at);
	return in_range(p, at) != p->invert;
}

/* Is the text at `at`, which ends with a zero or after `max` bytes, the same as `text`? */
static bool is_same_text(const char *text, const char *at, size_t max)
{
	for (size_t i = 0; i < max; i++) {
		if (text[i] != at[i])
			return false;
		if (!at[i])
			return true;
	}
	return !text[max];
}

/* A pattern with stars, or the whole text; `invert` is !=. */
static bool compare_text(const struct filter_pred *p, const char *at, size_t max)
{
	bool same = p->op == OP_GLOB ? glob_match_len(p->text, at, max) : is_same_text(p->text, at, max);

	return same != p->invert;
}

static_assert(NR_CPUS <= 64, "a set of CPUs is a word here");

/* Compare sets of CPUs. A number is the set with that one CPU; a number that is no CPU's matches nothing. */
static bool compare_cpus(const struct filter_pred *p, const void *record, const void *at)
{
	u64 set = 0;
	u32 loc;

	if (p->filter_type == FILTER_CPUMASK) {
		loc = *(const u32 *)at;
		memcpy(&set, record + (loc & 0xffff), min_t(size_t, loc >> 16, sizeof(set)));
	} else {
		memcpy(&set, p->filter_type == FILTER_CPU ? (const void *)&current->cpu : at, p->size);
		if (set >= NR_CPUS)
			return false;
		set = BIT(set);
	}
	if (p->op == OP_BAND)
		return set & p->low;
	return (set == p->low) == (p->op == OP_EQ);
}

/* A string that is not in memory matches nothing, and != does not match it either. */
static noinline bool compare_user_text(const struct filter_pred *p, const char __user *at)
{
	char text[USER_STRING_MAX];

	return filter_user_text(text, sizeof(text), at) && compare_text(p, text, sizeof(text));
}

/* Terms that are not about a number in the record: texts wherever they are, sets of CPUs, the current task or CPU. */
static bool match_other(const struct filter_pred *p, const void *record)
{
	const void *at = record + p->offset;
	u32 loc;

	if (p->in_cpus)
		return compare_cpus(p, record, at);
	switch (p->filter_type) {
	case FILTER_STATIC_STRING: /* of no size: the text at the record's end, with its zero */
		return compare_text(p, at, p->size ?: PTR_STRING_MAX);
	case FILTER_DYN_STRING:
		loc = *(const u32 *)at;
		return compare_text(p, record + (loc & 0xffff), loc >> 16);
	case FILTER_RDYN_STRING:
		loc = *(const u32 *)at;
		return compare_text(p, at + sizeof(loc) + (loc & 0xffff), loc >> 16);
	case FILTER_PTR_STRING:
		at = *(const char *const *)at;
		return at && compare_text(p, at, PTR_STRING_MAX);
	case FILTER_USER_STRING:
		return compare_user_text(p, *(const char __user *const *)at);
	case FILTER_COMM:
		return compare_text(p, current->comm, TASK_COMM_LEN);
	default: /* FILTER_CPU */
		return compare(p, &current->cpu);
	}
}

/*
 * From term i on, of any kind.
 *
 * A probe reads its event's filter without a lock.
 *
 * trace_event_file.filter is replaced under event_mutex while probes run anywhere: in a task, an interrupt, an NMI,
 * with the runqueue locked. A probe looks at EVENT_FILE_FILTERED, makes its record aside, and only then loads the
 * filter, once, with acquire; the task that installs one has stored it with release, complete. A program is never
 * changed afterwards, and all its jumps go forward, so that running it ends after at most as many terms as it has.
 *
 * - Flag and filter are two words and may disagree. The flag is set after the filter is there and cleared after the
 *   filter is gone, and a probe that finds the flag without a filter lets its record pass. So a record that comes while
 *   a filter is changed is judged by the old one, by the new one, or, where there was or will be none, by none.
 * - The filter may be replaced while it runs. Probes run with preemption off, in every context, and the old program is
 *   freed when synchronize_rcu() has returned. Its patterns lie in the same piece of memory. That also means: when the
 *   write to filter returns, no record is judged by the old one any more.
 * - The text that the file shows is another piece of memory, of event_mutex alone; no probe sees it.
 * - A record that is refused was in no ring. It lies on the probe's stack, or in its CPU's memory (trace_nest_enter),
 *   and is copied into the ring when it has passed; its time is that of the copy, so it stands behind what an interrupt
 *   has recorded meanwhile. How a record was begun counts at its end, not what the flags say by then. Only with
 *   triggers on the event are records made in the ring, as those look at refused ones too, and what a trigger with a
 *   filter stops at is the last record. Such a one is not committed, so no reader has seen it; when an interrupt has
 *   recorded something behind it, it stays as padding, which readers pass over (ring_buffer_discard).
 * - The strings. Arrays are looked at up to their size, dynamic ones up to the length in the record, which this probe
 *   has written; only this CPU's writers touch it before it is committed. Of a pointer's text at most 4,096
 *   bytes; events have such fields for strings that live for ever only. comm is the running task's own: another task
 *   may rename it meanwhile, and then a mixture of both names is compared, but never a byte behind the array.
 */
static noinline bool match_from(const struct event_filter *filter, const void *record, unsigned i)
{
	unsigned nr = filter->nr;

	do {
		const struct filter_pred *p = &filter->preds[i];

		if (likely(p->filter_type == FILTER_OTHER && !p->in_cpus))
			i = p->next[compare(p, record + p->offset)];
		else
			i = p->next[match_other(p, record)];
	} while (i < nr);
	return i == nr;
}

/* Comparisons of numbers call nothing, so that filters of nothing else need no stack frame. */
bool filter_match(const struct event_filter *filter, const void *record)
{
	unsigned i = 0, nr = filter->nr;

	do {
		const struct filter_pred *p = &filter->preds[i];

		if (unlikely(p->filter_type != FILTER_OTHER || p->in_cpus))
			return match_from(filter, record, i);
		i = p->next[compare(p, record + p->offset)];
	} while (i < nr);
	return i == nr;
}
