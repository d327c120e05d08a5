/*
 * The option `fields`: a record as its fields' names and values, whatever its own text would be.
 *
 *     sched_waking: comm=bash pid=0x580 (1408) prio=0x78 (120) ...
 *
 * Names, offsets and sizes come from the same table as the file `format`. A record may be shorter than its format
 * says, because user programs write records too; every size is cut to what the record has.
 */
#include <lib/string.h>

#include "events/text_file.h"
#include "iter.h"
#include "output.h"

/* At most `size` bytes, up to the zero. A marker's own newline is left out: the line goes on behind it. */
static void print_text(struct seq_file *s, const char *text, unsigned size)
{
	unsigned len = strnlen(text, size);

	seq_printf(s, "%.*s", (int)(len && text[len - 1] == '\n' ? len - 1 : len), text);
}

/* Data without a better form, as hexadecimal bytes. */
static void print_bytes(struct seq_file *s, const unsigned char *bytes, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		seq_printf(s, i ? " %02x" : "%02x", bytes[i]);
}

/*
 * The number is shown as signed, whatever the field is, as in Linux. It may stand at any offset, so the union is
 * packed: the compiler then makes loads that need no alignment. A size that no integer has is shown as bytes.
 */
static void print_number(struct seq_file *s, const void *value, unsigned size)
{
	const union {
		u8 u8;
		s16 s16;
		s32 s32;
		s64 s64;
	} __attribute__((packed)) *v = value;

	if (size == 1 && isprint(v->u8))
		seq_printf(s, "'%c'", v->u8);
	if (size == 1)
		seq_printf(s, "(%d)", v->u8);
	else if (size == 2)
		seq_printf(s, "0x%x (%d)", (u16)v->s16, v->s16);
	else if (size == 4)
		seq_printf(s, "0x%x (%d)", (u32)v->s32, v->s32);
	else if (size == 8)
		seq_printf(s, "0x%llx (%lld)", (unsigned long long)v->s64, (long long)v->s64);
	else
		print_bytes(s, value, size);
}

static bool is_relative(const struct trace_event_field *f)
{
	return !strncmp(f->type, "__rel_loc", strlen("__rel_loc"));
}

/*
 * A __data_loc field: the record holds a word that says where the data lies, its low half the offset from the
 * record's start, its high half the size. That of a __rel_loc field counts from the end of the word. What is behind the
 * record's end is not shown.
 */
static void print_dynamic(struct seq_file *s, const struct trace_iterator *iter, const struct trace_event_field *f)
{
	const char *record = (const char *)iter->ent;
	u32 where = *(const u32 *)(record + f->offset);
	unsigned offset = where & 0xffff, size = where >> 16;

	if (is_relative(f))
		offset += f->offset + sizeof(where);
	if (offset + size > iter->ent_size)
		seq_puts(s, "<OVERFLOW>");
	else if (f->filter_type == FILTER_DYN_STRING || f->filter_type == FILTER_RDYN_STRING)
		print_text(s, record + offset, size);
	else
		print_bytes(s, (const unsigned char *)record + offset, size);
}

/*
 * A field that tells no size reaches to the record's end. All sizes are cut to what the record has: markers and user
 * programs write records that are shorter than their format says.
 */
static void print_field(struct seq_file *s, const struct trace_iterator *iter, const struct trace_event_field *f)
{
	const char *record = (const char *)iter->ent;
	unsigned rest = iter->ent_size - min((unsigned)f->offset, iter->ent_size);
	unsigned size = f->size ? min((unsigned)f->size, rest) : rest;

	seq_printf(s, " %s=", f->name);
	if (is_relative(f) || !strncmp(f->type, "__data_loc", strlen("__data_loc")))
		print_dynamic(s, iter, f);
	else if (f->filter_type == FILTER_STATIC_STRING || !strncmp(f->type, "char[", strlen("char[")))
		print_text(s, record + f->offset, size);
	else
		print_number(s, record + f->offset, size);
}

/* Events have their fields from the format; the tracers' own records from a table (trace_entry_fields). */
static void print_fields(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_event_call *call = trace_event_of_type(iter->ent->type);
	const struct trace_event_field *f = NULL;
	const char *name = NULL;

	if (call) {
		name = call->name;
		f = trace_event_fields(call);
	} else {
		f = trace_entry_fields(iter->ent->type, &name);
	}
	/* A type that neither an event nor a tracer knows. */
	if (!name) {
		seq_printf(s, "UNKNOWN TYPE %d\n", iter->ent->type);
		return;
	}
	seq_printf(s, "%s:", name);
	for (; f->name; f++)
		print_field(s, iter, f);
	seq_putc(s, '\n');
}

/* With preemption off the fields of a module's event stay where they are. */
void trace_print_fields(struct seq_file *s, struct trace_iterator *iter)
{
	preempt_disable();
	print_fields(s, iter);
	preempt_enable();
}
