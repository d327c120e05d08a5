/*
 * A hit: the key is made from the record, its element found or inserted, and sums and variables brought up to date.
 *
 *	hist_fire	the trigger's function
 *	  count_known		the short way: a number as key, which is there already; nothing but sums
 *	  make_key		into memory of this CPU and level of nesting
 *	  read_refs		variables of other histograms, by the same key; one that is not set ends the hit
 *	  hist_map_insert
 *	  update		sums, variables
 *	  hist_run_actions	(action.c)
 *
 * Context: probes, which run in any context, NMI included, with preemption off. Nothing here sleeps, locks or
 * allocates.
 *
 * Why is it safe that several CPUs change an element?
 *
 * A sum is changed by atomic additions alone. A variable is a word that is stored whole, and whoever reads it has seen
 * its bit in vars_set with acquire order: the value is this hit's or a later one's. A string of a variable may be
 * written while another CPU copies it: the copy can then have a part of both, but its last byte is always zero, because
 * no writer ever stores anything else there, so a copy ends within its memory.
 */
#include <irq/irqflags.h>
#include <kernel/percpu.h>
#include <kernel/stacktrace.h>
#include <lib/string.h>
#include <sched/sched.h>

#include "core/aside.h"
#include "core/record.h"
#include "hist.h"

/*
 * Room for a hit on each level of nesting: code that interrupts a hit takes the next one, and so does a hit of a
 * synthetic event that an action of this one makes (core/record.h tells why a plain counter does). [this CPU]
 */
struct hist_scratch {
	unsigned depth;
	struct {
		u64 key[HIST_KEY_MAX / 8];
		u64 refs[HIST_REFS_MAX];
	} of[HIST_NEST_MAX];
};
static DEFINE_PER_CPU(struct hist_scratch, hist_scratch);

/* ---- Values */

/* A number of the record, by its size. */
static __always_inline u64 number_in(const struct hist_field *f, const char *record)
{
	const void *at = record + f->field->offset;

	switch (f->field->size | (f->is_signed ? 16 : 0)) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return *(const u16 *)at;
	case 4:
		return *(const u32 *)at;
	case 16 + 1:
		return (s64) * (const s8 *)at;
	case 16 + 2:
		return (s64) * (const s16 *)at;
	case 16 + 4:
		return (s64) * (const s32 *)at;
	default:
		return *(const u64 *)at;
	}
}

/* The stamp of the hit: in us, when that was asked for and the clock counts ns. */
static u64 time_of(const struct hist_field *f, const struct hist_hit *hit)
{
	return f->in_usecs && trace_clock_in_ns(hit->tr) ? hit->time / NSEC_PER_USEC : hit->time;
}

/* Operators. What cannot be divided gives all ones, as in Linux. */
static u64 compute(const struct hist_field *f, const struct hist_hit *hit)
{
	u64 a = hist_eval(f->operand[0], hit), b = f->operand[1] ? hist_eval(f->operand[1], hit) : 0;

	switch (f->op) {
	case HIST_PLUS:
		return a + b;
	case HIST_MINUS:
		return a - b;
	case HIST_TIMES:
		return a * b;
	case HIST_NEGATE:
		return -a;
	default:
		return b ? a / b : U64_MAX;
	}
}

/* The smallest power of two that is not below v: its exponent. */
static u64 log2_up(u64 v)
{
	return v > 1 ? 64 - __builtin_clzll(v - 1) : 0;
}

/* The number before .log2 and .buckets are applied. */
static u64 value_of(const struct hist_field *f, const struct hist_hit *hit)
{
	switch (f->op) {
	case HIST_NUMBER:
		return number_in(f, hit->record);
	case HIST_COUNT:
		return 1;
	case HIST_CONST:
		return f->number;
	case HIST_TIME:
		return time_of(f, hit);
	case HIST_CPU:
		return smp_processor_id();
	case HIST_REF:
		return hit->refs[f->ref];
	default:
		return compute(f, hit);
	}
}

/* A number; of strings and stacks there is none. `hit` may be NULL for an expression of constants. */
u64 hist_eval(const struct hist_field *f, const struct hist_hit *hit)
{
	u64 v = value_of(f, hit);

	if (likely(f->form != FORM_LOG2 && f->form != FORM_BUCKETS))
		return v;
	return f->form == FORM_LOG2 ? log2_up(v) : v / f->number * f->number;
}

/* Where the field's array lies in the record, and how many bytes it has. */
static const char *array_in(const struct hist_field *f, const struct hist_hit *hit, unsigned *len)
{
	const char *at = hit->record + f->field->offset;
	u32 where;

	if (f->op == HIST_TEXT_IN) {
		*len = f->field->size ?: HIST_TEXT; /* none: it ends with its zero */
		return at;
	}
	where = *(const u32 *)(const void *)at;
	*len = where >> 16;
	if (f->field->filter_type == FILTER_RDYN_STRING)
		return at + sizeof(where) + (where & 0xffff);
	return hit->record + (where & 0xffff);
}

/* Copy a string to `to`, which has `size` bytes, and whose last one stays zero. The rest is filled with zeros. */
static void copy_text(char *to, unsigned size, const struct hist_field *f, const struct hist_hit *hit)
{
	unsigned len;
	const char *from;

	if (f->op == HIST_COMM) {
		from = current->pid ? current->comm : "<idle>";
		len = 16;
	} else {
		from = array_in(f, hit, &len);
	}
	len = strnlen(from, min(len, size - 1));
	memcpy(to, from, len);
	memset(to + len, 0, size - len);
}

/* Addresses into `to`, which has room for `max`; the rest is filled with zeros. Returns how many there are. */
static unsigned copy_stack(unsigned long *to, unsigned max, const struct hist_field *f, const struct hist_hit *hit)
{
	const unsigned long *from;
	unsigned n;

	if (f->op == HIST_STACK) {
		n = stack_trace_save_fp(hit->fp, to, max, 1);
	} else {
		from = (const void *)array_in(f, hit, &n);
		n = min(n / (unsigned)sizeof(long), max);
		memcpy(to, from, n * sizeof(long));
	}
	memset(to + n, 0, (max - n) * sizeof(long));
	return n;
}

/* ---- The hit */

/* The usual key is a number of the record, which needs no call. */
static void make_key(const struct hist *h, u64 *key, const struct hist_hit *hit)
{
	for (unsigned i = 0; i < h->nr_keys; i++) {
		const struct hist_field *f = h->keys[i];
		u64 *at = key + f->offset / sizeof(u64);

		if (f->is_text)
			copy_text((char *)at, f->size, f, hit);
		else if (f->is_stack)
			copy_stack((unsigned long *)at, HIST_STACK_DEPTH, f, hit);
		else if (likely(f->op == HIST_NUMBER && f->form != FORM_LOG2 && f->form != FORM_BUCKETS))
			*at = number_in(f, hit->record);
		else
			*at = hist_eval(f, hit);
	}
}

/*
 * The values of the variables that this hit needs: of others before the element is there (self NULL), its own behind.
 * False: one of them is not set.
 */
static bool read_refs(struct hist *h, const u64 *key, void *self, u64 *refs)
{
	for (unsigned i = 0; i < h->nr_refs; i++) {
		struct hist_ref *ref = &h->refs[i];
		u64 bit = BIT(ref->var), set;
		void *elt;

		if ((ref->owner == h) != (self != NULL))
			continue;
		elt = self ?: hist_map_find(ref->owner->map, key);
		if (!elt)
			return false;
		set = smp_load_acquire(hist_vars_set(ref->owner, elt));
		refs[i] = READ_ONCE(*hist_var(ref->owner, elt, ref->var));
		if (set & bit && ref->once && !self)
			set = __atomic_fetch_and(hist_vars_set(ref->owner, elt), ~bit, __ATOMIC_ACQ_REL);
		if (!(set & bit))
			return false;
	}
	return true;
}

static void set_word(struct hist *h, void *elt, unsigned n, u64 value)
{
	u64 *set = hist_vars_set(h, elt);

	WRITE_ONCE(*hist_var(h, elt, n), value);
	__atomic_fetch_or(set, BIT(n), __ATOMIC_RELEASE);
}

/* Strings and stacks go into the element's own memory, and the value says where. A stack's length comes first. */
void hist_set_var(struct hist *h, void *elt, unsigned n, const struct hist_hit *hit)
{
	const struct hist_var *var = &h->vars[n];
	char *text;

	if (var->text < 0) {
		set_word(h, elt, n, hist_eval(var->value, hit));
		return;
	}
	text = hist_text(h, elt, var->text);
	if (var->value->is_text)
		copy_text(text, HIST_TEXT, var->value, hit);
	else
		*(unsigned long *)(void *)text =
			copy_stack((unsigned long *)(void *)text + 1, HIST_STACK_DEPTH, var->value, hit);
	set_word(h, elt, n, (u64)(unsigned long)text);
}

static void update(struct hist *h, void *elt, const struct hist_hit *hit)
{
	u64 *sums = hist_sums(h, elt);

	__atomic_fetch_add(&sums[0], 1, __ATOMIC_RELAXED);
	for (unsigned i = 1; i < h->nr_vals; i++)
		__atomic_fetch_add(&sums[i], hist_eval(h->vals[i], hit), __ATOMIC_RELAXED);
	for (unsigned i = 0; i < h->nr_vars; i++)
		if (h->vars[i].kind == VAR_DEFINED || h->vars[i].kind == VAR_PARAM)
			hist_set_var(h, elt, i, hit);
}

/* The name of the task that the key's pid belongs to: that of the first hit. */
static void save_comm(const struct hist *h, void *elt)
{
	strscpy(hist_comm(h, elt), current->pid ? current->comm : "<idle>", 16);
}

/* The steps that the head of this file lists. `key` and `refs` are the memory of this level. */
static void count_hit(struct hist *h, const struct trigger_hit *of, u64 *key, u64 *refs, unsigned depth)
{
	const struct hist_hit hit = {
		.record = of->record,
		.refs = refs,
		.fp = of->fp,
		.tr = h->file->tr,
		.time = h->uses_time ? trace_clock_now(h->file->tr) : 0,
	};
	bool fresh;
	void *elt;

	make_key(h, key, &hit);
	if (h->nr_refs && !read_refs(h, key, NULL, refs))
		return;
	elt = hist_map_insert(h->map, key, smp_processor_id(), depth, &fresh);
	if (unlikely(!elt))
		return;
	if (unlikely(fresh && h->has_comm))
		save_comm(h, elt);
	update(h, elt, &hit);
	if (h->nr_actions && read_refs(h, key, elt, refs))
		hist_run_actions(h, elt, &hit, of->open);
}

/*
 * Each level of nesting on a CPU has its own memory. Code that interrupts between the load of `depth` and its store
 * uses the same level, and is done with it before this code goes on.
 */
static noinline void count_at_level(struct hist *h, const struct trigger_hit *hit)
{
	struct hist_scratch *scratch = this_cpu_ptr(&hist_scratch);
	unsigned depth = READ_ONCE(scratch->depth);

	if (unlikely(depth == HIST_NEST_MAX)) {
		hist_map_drop(h->map, smp_processor_id());
		return;
	}
	WRITE_ONCE(scratch->depth, depth + 1);
	barrier();
	count_hit(h, hit, scratch->of[depth].key, scratch->of[depth].refs, depth);
	barrier();
	WRITE_ONCE(scratch->depth, depth);
}

/*
 * The short way of a histogram that is h->plain. It needs no memory of its own: it inserts nothing, and the sums are
 * changed by atomic additions, so code that interrupts it counts its own hit in between. False: the key is not there,
 * or not in the slot where nearly every key is.
 */
static __always_inline bool count_known(struct hist *h, const struct trigger_hit *hit)
{
	void *elt = hist_map_hit_number(h->map, number_in(h->keys[0], hit->record), smp_processor_id());
	u64 *sums;

	if (unlikely(!elt))
		return false;
	sums = hist_sums(h, elt);
	__atomic_fetch_add(&sums[0], 1, __ATOMIC_RELAXED);
	for (unsigned i = 1; i < h->nr_vals; i++)
		__atomic_fetch_add(&sums[i], number_in(h->vals[i], hit->record), __ATOMIC_RELAXED);
	return true;
}

void hist_fire(struct event_trigger *trigger, const struct trigger_hit *hit)
{
	struct hist *h = hist_of(trigger);

	/* The record is closed: what had to wait for that. */
	if (!hit->record) {
		hist_take_due(h);
		return;
	}
	if (READ_ONCE(trigger->paused) || READ_ONCE(h->stopped))
		return;
	if (!h->plain || !count_known(h, hit))
		count_at_level(h, hit);
}
