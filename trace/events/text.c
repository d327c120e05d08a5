/* Events as text: a record's line, the file `format`, and what TP_printk may call. */
#include <kernel/export.h>
#include <kernel/ksyms.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/page.h>

#include "output/iter.h"
#include "event_file.h"

/* ---- A record */

void *trace_iter_entry(struct trace_iterator *iter)
{
	return iter->ent;
}
EXPORT_SYMBOL(trace_iter_entry);

/* The name of the event, unless its text begins with one of its own, and then what its TP_printk says. */
static void print_call(struct seq_file *s, struct trace_iterator *iter, const struct trace_event_call *call)
{
	iter->texts_used = 0;
	if (!call->class->names_itself) {
		seq_puts(s, call->name);
		seq_write(s, ": ", 2);
	}
	(call->print ? call->print : call->class->print)(s, iter);
}

/* With preemption off a late event cannot be freed while its print runs; it may have gone before. */
static void print_late(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_event_call *call;

	preempt_disable();
	call = trace_event_of_type(iter->ent->type);
	if (call)
		print_call(s, iter, call);
	else
		seq_printf(s, "an event that has gone, type %u\n", iter->ent->type);
	preempt_enable();
}

static void trace_event_print(struct seq_file *s, struct trace_iterator *iter)
{
	if (unlikely(trace_type_is_late(iter->ent->type)))
		print_late(s, iter);
	else
		print_call(s, iter, trace_event_of_type(iter->ent->type));
}

const struct trace_event trace_event_output = {.trace = trace_event_print};

/* ---- Texts within a line, one behind the other in iter->texts */

/* Bytes that are left for texts of this line. What does not fit is cut off; a line never fails for it. */
static size_t text_room(const struct trace_iterator *iter)
{
	return sizeof(iter->texts) - iter->texts_used;
}

static void __printf(2, 3) add(struct trace_iterator *iter, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	iter->texts_used += vscnprintf(iter->texts + iter->texts_used, text_room(iter), fmt, args);
	va_end(args);
}

/* A text that is no format: a name with a % in it must come out as it is. */
static void add_text(struct trace_iterator *iter, const char *text)
{
	/* One byte is left for the zero, as vscnprintf does. */
	while (*text && iter->texts_used < sizeof(iter->texts) - 1)
		iter->texts[iter->texts_used++] = *text++;
}

/* End the text that began at `from` with a zero, and return it. What did not fit is cut off. */
static const char *end_text(struct trace_iterator *iter, unsigned from)
{
	if (from >= sizeof(iter->texts) - 1)
		return "";
	iter->texts[iter->texts_used] = '\0';
	iter->texts_used = min(iter->texts_used + 1, (unsigned)sizeof(iter->texts) - 1);
	return iter->texts + from;
}

/*
 * __print_flags(): the names of the bits that are set, joined by `delim`; bits without a name in hexadecimal behind
 * them. A name may stand for several bits, so the table's order decides.
 */
const char *trace_print_flags(struct trace_iterator *iter, const char *delim, unsigned long flags,
			      const struct trace_print_flags *names)
{
	unsigned from = iter->texts_used;

	for (; names->name && flags; names++) {
		if (!names->mask || (flags & names->mask) != names->mask)
			continue;
		if (iter->texts_used != from)
			add_text(iter, delim);
		add_text(iter, names->name);
		flags &= ~names->mask;
	}
	if (flags)
		add(iter, "%s0x%lx", iter->texts_used == from ? "" : delim, flags);
	return end_text(iter, from);
}
EXPORT_SYMBOL(trace_print_flags);

/* __print_symbolic(): the name of the value, else the value. */
const char *trace_print_symbols(struct trace_iterator *iter, unsigned long value, const struct trace_print_flags *names)
{
	unsigned from = iter->texts_used;

	for (; names->name; names++)
		if (names->mask == value)
			return names->name;
	add(iter, "0x%lx", value);
	return end_text(iter, from);
}
EXPORT_SYMBOL(trace_print_symbols);

/* __print_hex(): bytes, with blanks between them unless `joined`. */
const char *trace_print_hex(struct trace_iterator *iter, const void *bytes, unsigned len, bool joined)
{
	const u8 *b = bytes;
	unsigned from = iter->texts_used;

	for (unsigned i = 0; i < len; i++)
		add(iter, "%s%02x", i && !joined ? " " : "", b[i]);
	return end_text(iter, from);
}
EXPORT_SYMBOL(trace_print_hex);

/* __bitmask: words of 32 bits, highest first, as the kernel prints masks. */
const char *trace_print_bitmask(struct trace_iterator *iter, const void *mask, unsigned len)
{
	unsigned from = iter->texts_used;
	u32 word;

	for (unsigned at = len; at >= sizeof(word); at -= sizeof(word)) {
		memcpy(&word, mask + at - sizeof(word), sizeof(word)); /* nothing aligns it */
		add(iter, "%s%08x", at == len ? "" : ",", word);
	}
	return end_text(iter, from);
}
EXPORT_SYMBOL(trace_print_bitmask);

/* Elements are of 1, 2, 4 or 8 bytes; none is signed here. */
static u64 element(const void *array, unsigned i, unsigned size)
{
	switch (size) {
	case 1:
		return ((const u8 *)array)[i];
	case 2:
		return ((const u16 *)array)[i];
	case 4:
		return ((const u32 *)array)[i];
	default:
		return ((const u64 *)array)[i];
	}
}

/* __print_array(): {0x1,0x2}. */
const char *trace_print_array(struct trace_iterator *iter, const void *array, unsigned count, unsigned size)
{
	unsigned from = iter->texts_used;

	add(iter, "{");
	for (unsigned i = 0; i < count; i++)
		add(iter, "%s0x%llx", i ? "," : "", (unsigned long long)element(array, i, size));
	add(iter, "}");
	return end_text(iter, from);
}
EXPORT_SYMBOL(trace_print_array);

/* ---- format */

/* A line for each field. An array's length stands behind its name; of a dynamic array "[]" stays with the type. */
static void show_fields(struct seq_file *m, const struct trace_event_field *f)
{
	for (; f->name; f++) {
		const char *bracket = strncmp(f->type, "__data_loc", 10) ? strchr(f->type, '[') : NULL;
		int len = bracket ? bracket - f->type : (int)strlen(f->type);

		seq_printf(m, "\tfield:%.*s %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", len, f->type, f->name,
			   bracket ? bracket : "", f->offset, f->size, f->is_signed);
	}
}

void trace_show_format(struct seq_file *m, const char *name, unsigned type, const struct trace_event_field *fields,
		       const char *system, const char *print_fmt)
{
	seq_printf(m, "name: %s\nID: %u\nformat:\n", name, type);
	show_fields(m, trace_common_fields);
	seq_putc(m, '\n');
	show_fields(m, fields);
	seq_puts(m, "\nprint fmt: ");
	trace_show_print_fmt(m, system, print_fmt);
	seq_putc(m, '\n');
}
