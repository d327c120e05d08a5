/*
 * The records of synthetic events. There is no tracepoint: the arrays that want an event's records are in a list of the
 * event, which is walked without a lock, with preemption off. An array leaves the list a grace period before it is told
 * that no probe of its runs any more.
 *
 * A record has a fixed part, in which each field begins at a multiple of eight bytes, and behind it strings without a
 * fixed length and stacks; in the fixed part such a field is a word, offset | length << 16.
 */
#include <irq/irqflags.h>
#include <kernel/ksyms.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "core/record.h"
#include "events/event_file.h"
#include "output/iter.h"
#include "internal.h"

/* ---- Who wants them: event_mutex held */

struct synth_event *synth_of_call(const struct trace_event_call *call)
{
	return container_of(call, struct synth_event, call);
}

static int add_listener(struct synth_event *e, struct trace_event_file *file)
{
	struct synth_listener *l = kzalloc(sizeof(*l), GFP_KERNEL);

	if (!l)
		return -ENOMEM;
	l->file = file;
	l->next = e->listeners;
	smp_store_release(&e->listeners, l);
	return 0;
}

static void remove_listener(struct synth_event *e, const struct trace_event_file *file)
{
	struct synth_listener **at = &e->listeners, *l;

	while ((*at)->file != file)
		at = &(*at)->next;
	l = *at;
	smp_store_release(at, l->next);
	synchronize_rcu();
	kfree(l);
}

/* The event's class->reg. */
int synth_event_reg(struct trace_event_file *file, bool on)
{
	struct synth_event *e = synth_of_call(file->call);

	if (on)
		return add_listener(e, file);
	remove_listener(e, file);
	return 0;
}

/* ---- Making: any context, preemption off */

/* Bytes that the field takes behind the fixed part. */
static unsigned dynamic_size(const struct synth_field *f, u64 value)
{
	if (f->is_text)
		return strnlen((const char *)(unsigned long)value, SYNTH_TEXT_MAX - 1) + 1;
	return min_t(u64, *(const u64 *)(unsigned long)value, SYNTH_STACK_MAX) * sizeof(long);
}

/* The value as a number of `size` bytes. */
static void fill_number(char *at, unsigned size, u64 value)
{
	switch (size) {
	case 1:
		*(u8 *)at = value;
		break;
	case 2:
		*(u16 *)(void *)at = value;
		break;
	case 4:
		*(u32 *)(void *)at = value;
		break;
	default:
		*(u64 *)(void *)at = value;
	}
}

/*
 * The record is zeros behind its head. A string may change while it is copied, because another CPU writes to the
 * variable that it is in. So the lengths are those that the record has been made for, and the last byte stays a zero.
 */
static void fill(const struct synth_event *e, char *record, const u64 *values, const u16 *sizes)
{
	unsigned behind = e->fixed;

	for (unsigned i = 0; i < e->nr_fields; i++) {
		const struct synth_field *f = &e->fields[i];
		char *at = record + e->table[i].offset;
		const char *from = (const char *)(unsigned long)values[i];

		if (!f->is_text && !f->is_stack) {
			fill_number(at, f->size, values[i]);
			continue;
		}
		if (!f->is_dynamic) {
			memcpy(at, from, strnlen(from, f->size - 1));
			continue;
		}
		*(u32 *)(void *)at = behind | (u32)sizes[i] << 16;
		if (f->is_text)
			memcpy(record + behind, from, sizes[i] - 1);
		else
			memcpy(record + behind, from + sizeof(u64), sizes[i]);
		behind += ALIGN(sizes[i], 8);
	}
}

/*
 * The lengths of strings are taken once, and the record has room for these; each array that wants the event gets a
 * record of its own.
 */
void synth_event_trace(struct synth_event *e, const u64 *values)
{
	u16 sizes[SYNTH_FIELDS_MAX];
	unsigned len = e->fixed;
	struct trace_event_buffer buffer;
	const struct synth_listener *l = smp_load_acquire(&e->listeners);

	if (!l)
		return;
	for (unsigned i = 0; i < e->nr_fields; i++)
		if (e->fields[i].is_dynamic) {
			sizes[i] = dynamic_size(&e->fields[i], values[i]);
			len += ALIGN(sizes[i], 8);
		}
	for (; l; l = smp_load_acquire(&l->next)) {
		void *record = trace_event_begin(&buffer, l->file, len);

		if (!record)
			continue;
		/* What lies between fields is seen in raw pages, and the ring has old records there. */
		memset((char *)record + sizeof(struct trace_entry), 0, len - sizeof(struct trace_entry));
		fill(e, record, values, sizes);
		trace_event_end(&buffer, (unsigned long)__builtin_frame_address(0));
	}
}

/* ---- Printing */

static void print_stack(struct seq_file *s, const char *record, u32 where)
{
	const unsigned long *address = (const void *)(record + (where & 0xffff));
	char text[KSYM_SYMBOL_LEN];

	seq_puts(s, "STACK:\n");
	for (unsigned i = 0; i < (where >> 16) / sizeof(long) && address[i]; i++) {
		sprint_symbol(text, address[i]);
		seq_printf(s, "=> %s\n", text);
	}
}

/* By its size and sign. All fit into 64 bits, so the formats differ only in that and in the base. */
static void print_number(struct seq_file *s, const struct synth_field *f, const char *at)
{
	const char *format = synth_field_format(f);
	u64 v = f->size == 1   ? *(const u8 *)at
		: f->size == 2 ? *(const u16 *)(const void *)at
		: f->size == 4 ? *(const u32 *)(const void *)at
			       : *(const u64 *)(const void *)at;
	unsigned shift = 64 - f->size * 8;

	if (!strcmp(format, "%x"))
		seq_printf(s, "%llx", (unsigned long long)v);
	else if (f->is_signed)
		seq_printf(s, "%lld", (long long)(v << shift) >> shift);
	else
		seq_printf(s, "%llu", (unsigned long long)v);
}

/* "lat=12 pid=34 comm=sh" */
void synth_event_print(struct seq_file *s, struct trace_iterator *iter)
{
	const struct synth_event *e = synth_of_call(trace_event_of_type(iter->ent->type));
	const char *record = (const char *)iter->ent;

	for (unsigned i = 0; i < e->nr_fields; i++) {
		const struct synth_field *f = &e->fields[i];
		const char *at = record + e->table[i].offset;

		seq_printf(s, "%s%s=", i ? " " : "", f->name);
		if (f->is_stack)
			print_stack(s, record, *(const u32 *)(const void *)at);
		else if (f->is_text)
			seq_puts(s, f->is_dynamic ? record + (*(const u32 *)(const void *)at & 0xffff) : at);
		else
			print_number(s, f, at);
	}
	seq_putc(s, '\n');
}
