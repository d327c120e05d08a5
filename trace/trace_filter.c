/* Running filters. In probes: any context, NMI included, preemption off. */
#include <kernel/smp.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "trace_filter.h"

#define PTR_STRING_MAX 4096 /* bytes of a text behind a pointer that are looked at */

static u64 signed_number(const void *at, unsigned size)
{
	switch (size) {
	case 1:
		return *(const s8 *)at;
	case 2:
		return *(const s16 *)at;
	case 4:
		return *(const s32 *)at;
	default:
		return *(const u64 *)at;
	}
}

static u64 unsigned_number(const void *at, unsigned size)
{
	switch (size) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return *(const u16 *)at;
	case 4:
		return *(const u32 *)at;
	default:
		return *(const u64 *)at;
	}
}

/* Both are extended to 64 bits in the same way, so that neither equality nor common bits depend on the field's size. */
static bool compare(const struct filter_pred *p, u64 number)
{
	bool less = p->is_signed ? (s64)number < (s64)p->value : number < p->value;

	switch (p->op) {
	case OP_NE:
		return number != p->value;
	case OP_EQ:
		return number == p->value;
	case OP_LE:
		return less || number == p->value;
	case OP_LT:
		return less;
	case OP_GE:
		return !less;
	case OP_GT:
		return !less && number != p->value;
	default:
		return number & p->value;
	}
}

/* `at` ends with a zero or after `max` bytes. */
static bool compare_text(const struct filter_pred *p, const char *at, size_t max)
{
	size_t len = strnlen(at, max);
	bool same;

	if (p->op == OP_GLOB)
		same = glob_match_len(p->text, at, len);
	else
		same = !strncmp(p->text, at, len) && !p->text[len];
	return same != p->invert;
}

static bool match(const struct filter_pred *p, const void *record)
{
	const void *at = record + p->offset;
	u32 loc;

	switch (p->filter_type) {
	case FILTER_STATIC_STRING:
		return compare_text(p, at, p->size);
	case FILTER_DYN_STRING:
		loc = *(const u32 *)at;
		return compare_text(p, record + (loc & 0xffff), loc >> 16);
	case FILTER_PTR_STRING:
		at = *(const char *const *)at;
		return at && compare_text(p, at, PTR_STRING_MAX);
	case FILTER_COMM:
		return compare_text(p, current->comm, TASK_COMM_LEN);
	case FILTER_CPU:
		return compare(p, smp_processor_id());
	default:
		return compare(p, p->is_signed ? signed_number(at, p->size) : unsigned_number(at, p->size));
	}
}

bool filter_match(const struct event_filter *filter, const void *record)
{
	unsigned i = 0;

	while (i < filter->nr)
		i = filter->preds[i].next[match(&filter->preds[i], record)];
	return i == filter->nr;
}
