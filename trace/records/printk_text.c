/*
 * Messages that are recorded by address, as text; and the file printk_formats, for programs that read them raw.
 *
 * trace_printk() with a constant format records the address of the format and the arguments (TRACE_BPRINT), with a
 * constant text the address of the text alone (TRACE_BPUTS). The text is made here, when it is read, so recording
 * costs a fraction of printing. Formats are constants of the kernel, so their addresses stay good.
 */
#include <lib/printf.h>
#include <lib/string.h>
#include <trace/trace_printk.h>

#include "output/iter.h"
#include "output/output.h"
#include "tracefs/tracefs.h"
#include "records.h"

extern const char *const __start_ptrs_printk_formats[], *const __stop_ptrs_printk_formats[];

/* What is behind the record's fixed part: arguments as words of 32 bits, as vbin_printf() packs them. */
static unsigned bprint_words(const struct trace_iterator *iter)
{
	return (iter->ent_size - sizeof(struct bprint_entry)) / sizeof(u32);
}

/*
 * The text goes straight into the reader's buffer. Where it does not fit, or only just, the buffer counts as
 * overflowed, and the reader comes again with an empty one. A text without a newline gets one: each record is a line.
 */
void trace_bprint_text(struct seq_file *s, struct trace_iterator *iter)
{
	const struct bprint_entry *field = (const void *)iter->ent;
	size_t room, n;
	char *to;

	room = seq_get_buf(s, &to);
	n = bstr_printf(to, min(room, (size_t)TRACE_PRINTK_MAX), field->fmt, field->buf, bprint_words(iter));
	if (n + 1 >= room) {
		seq_commit(s, -1);
		return;
	}
	seq_commit(s, (int)n);
	if (!n || to[n - 1] != '\n')
		seq_putc(s, '\n');
}

/* The text as it stands, with a newline if it has none. */
void trace_bputs_text(struct seq_file *s, struct trace_iterator *iter)
{
	const char *str = ((const struct bputs_entry *)iter->ent)->str;
	size_t n = strlen(str);

	seq_puts(s, str);
	if (!n || str[n - 1] != '\n')
		seq_putc(s, '\n');
}

/* The usual line: the function that holds the message, and the message. `raw` has the address as a number. */
static void trace_bprint_print(struct seq_file *s, struct trace_iterator *iter)
{
	seq_print_ip_sym(s, iter->tr, ((const struct bprint_entry *)iter->ent)->ip);
	seq_puts(s, ": ");
	trace_bprint_text(s, iter);
}

static void trace_bprint_raw(struct seq_file *s, struct trace_iterator *iter)
{
	seq_printf(s, ": %lx : ", ((const struct bprint_entry *)iter->ent)->ip);
	trace_bprint_text(s, iter);
}

static void trace_bputs_print(struct seq_file *s, struct trace_iterator *iter)
{
	seq_print_ip_sym(s, iter->tr, ((const struct bputs_entry *)iter->ent)->ip);
	seq_puts(s, ": ");
	trace_bputs_text(s, iter);
}

static void trace_bputs_raw(struct seq_file *s, struct trace_iterator *iter)
{
	seq_printf(s, ": %lx : ", ((const struct bputs_entry *)iter->ent)->ip);
	trace_bputs_text(s, iter);
}

/* The option printk-msg-only: the message and nothing around it. False: the record is no message. */
bool trace_print_message(struct seq_file *s, struct trace_iterator *iter)
{
	switch (iter->ent->type) {
	case TRACE_PRINT:
		seq_puts(s, ((const struct print_entry *)iter->ent)->buf);
		return true;
	case TRACE_BPRINT:
		trace_bprint_text(s, iter);
		return true;
	case TRACE_BPUTS:
		trace_bputs_text(s, iter);
		return true;
	}
	return false;
}

static const struct trace_event trace_bprint_event = {
	.type = TRACE_BPRINT,
	.trace = trace_bprint_print,
	.raw = trace_bprint_raw,
};
REGISTER_TRACE_EVENT(trace_bprint_event);
static const struct trace_event trace_bputs_event = {
	.type = TRACE_BPUTS,
	.trace = trace_bputs_print,
	.raw = trace_bputs_raw,
};
REGISTER_TRACE_EVENT(trace_bputs_event);

/* Write the text as C does, in quotes and on one line, so that a program can read it back. */
static void show_quoted(struct seq_file *m, const char *text)
{
	static const char special[] = "\n\t\\\"", letters[] = "nt\\\"";

	seq_putc(m, '"');
	for (; *text; text++) {
		const char *at = strchr(special, *text);

		if (at)
			seq_putc(m, '\\');
		seq_putc(m, at ? letters[at - special] : *text);
	}
	seq_puts(m, "\"\n");
}

const struct trace_late_format *trace_late_formats;

static void show_format(struct seq_file *m, const char *text)
{
	seq_printf(m, "0x%lx : ", (unsigned long)text);
	show_quoted(m, text);
}

/*
 * Every constant format and text, by its address in the records. The macro makes an entry for each message, and the
 * entry of a message that is not constant is NULL.
 */
static int printk_formats_show(struct seq_file *m, void *data)
{
	for (const char *const *fmt = __start_ptrs_printk_formats; fmt < __stop_ptrs_printk_formats; fmt++)
		if (*fmt)
			show_format(m, *fmt);
	for (const struct trace_late_format *late = smp_load_acquire(&trace_late_formats); late; late = late->next)
		show_format(m, late->text);
	return 0;
}
TRACEFS_TEXT_FILE(printk_formats, "printk_formats", 0440, TRACEFS_TOP, printk_formats_show, NULL);
