/*
 * Fetch arguments at a hit: run their programs, and fill the record (fetch.h).
 *
 * Memory is read without faults: what is not there is 0, and a string that is not there has the length 0, which is
 * shown as (fault). An address below TASK_SIZE_MAX is the program's, as user and kernel addresses never overlap on our
 * machines; a step with u, and ustring, read nothing else.
 *
 * Strings are looked at twice: once for their length, which the record is made for, and once to copy them. A string
 * that becomes longer meanwhile is cut.
 */
#include <asm/ptrace.h>
#include <fs/vfs.h>
#include <irq/irqflags.h>
#include <kernel/ksyms.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/uaccess.h>
#include <sched/sched.h>

#include "fetch.h"

const unsigned fetch_dentry_name = offsetof(struct dentry, d_name.name),
	       fetch_file_dentry = offsetof(struct file, f_dentry);

/* Only in fetch_touch(): records are made with preemption off. */
static bool may_fault(void)
{
	return !in_atomic() && !irqs_disabled() && current->mm;
}

/* False: it is not there, and *to is as it was, or zeros. */
static bool read_memory(void *to, u64 addr, size_t n, bool user)
{
	if (access_ok((const void __user *)addr, n)) {
		if (may_fault())
			return !copy_from_user(to, (const void __user *)addr, n);
		return !in_nmi() && current->mm && !copy_from_user_nofault(to, (const void __user *)addr, n);
	}
	return !user && !copy_from_kernel_nofault(to, (const void *)addr, n);
}

static u64 stack_pointer(const struct fetch_source *src)
{
	if (!src->regs)
		return src->sp;
	return src->user ? user_stack_pointer(src->regs) : kernel_stack_pointer(src->regs);
}

/* The n-th word above the stack pointer, which for the kernel must be on the same stack. */
static u64 stack_word(const struct fetch_source *src, unsigned n)
{
	u64 sp = stack_pointer(src);
	u64 at = sp + n * sizeof(u64), word = 0;

	if (!src->user && (at & ~(THREAD_SIZE - 1)) != (sp & ~(THREAD_SIZE - 1)))
		return 0;
	read_memory(&word, at, sizeof(word), src->user);
	return word;
}

/*
 * A field of the other event's record: a number with its sign, a string's or an array's address. A string that could
 * not be read has no bytes in the record, not even a zero: its address is 0, where nothing can be read either.
 */
static u64 field_value(const struct fetch_source *src, const struct trace_event_field *f)
{
	const char *at = (const char *)src->record + f->offset;
	unsigned bits = min(f->size, 8u) * 8;
	u64 value = 0;

	if (f->filter_type == FILTER_DYN_STRING || f->filter_type == FILTER_CPUMASK)
		return *(const u32 *)at >> 16 ? (u64)src->record + (*(const u32 *)at & 0xffff) : 0;
	if (f->filter_type == FILTER_RDYN_STRING)
		return *(const u32 *)at >> 16 ? (u64)at + sizeof(u32) + (*(const u32 *)at & 0xffff) : 0;
	if (f->filter_type == FILTER_STATIC_STRING || strchr(f->type, '['))
		return (u64)at;
	memcpy(&value, at, min_t(size_t, f->size, sizeof(value)));
	return f->is_signed && bits ? (value ^ BIT(bits - 1)) - BIT(bits - 1) : value;
}

/* What the program begins with: a value, or the address of a text (FETCH_COMM, FETCH_TEXT). */
static u64 source_value(const struct fetch_arg *arg, const struct fetch_source *src)
{
	switch ((enum fetch_op)arg->op) {
	case FETCH_REG:
		return *(const u64 *)((const char *)src->regs + arg->param);
	case FETCH_STACK:
		return stack_word(src, arg->param);
	case FETCH_STACKP:
		return stack_pointer(src);
	case FETCH_RETVAL:
		return src->retval;
	case FETCH_ARG:
		return regs_get_kernel_argument(src->regs, arg->param);
	case FETCH_ENTRY_ARG:
		return src->entry[arg->param];
	case FETCH_IMM:
		return arg->imm;
	case FETCH_FILE:
		return src->file_base + arg->imm;
	case FETCH_FIELD:
		return field_value(src, arg->field);
	case FETCH_COMM:
		return (u64)current->comm;
	case FETCH_TEXT:
		return (u64)arg->text;
	}
	return 0;
}

/*
 * The place in pt_regs from which a value comes. Only the machine's macros know it, so they are called with a pt_regs
 * in which each register holds its own place, counted from 1. 0: the value is not that of a register.
 */
static unsigned register_of(const struct fetch_arg *arg)
{
	u64 words[sizeof(struct pt_regs) / sizeof(u64)];
	const struct fetch_source src = {.regs = (const void *)words};
	u64 n;

	if (arg->op != FETCH_REG && arg->op != FETCH_STACKP && arg->op != FETCH_ARG)
		return 0;
	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		words[i] = i + 1;
	n = source_value(arg, &src);
	return n <= ARRAY_SIZE(words) ? n : 0;
}

/* Done once, so that a hit need not ask: most probes record registers as they are. */
void fetch_find_plain(struct fetch_args *args)
{
	args->plain = args->nr <= FETCH_MOVES_MAX;
	for (unsigned i = 0; i < args->nr && args->plain; i++) {
		const struct fetch_arg *arg = args->args[i];
		unsigned n = register_of(arg);

		args->plain = n && arg->store == FETCH_RAW && !arg->nr_steps && !arg->count && !arg->type->is_string &&
			      !arg->bits_left && !arg->bits_right;
		args->moves[i] = (struct fetch_move){(n - 1) * sizeof(u64), arg->offset, arg->type->size};
	}
}

/* The source, and the steps from there. False: one of them could not be made. */
static bool walk(const struct fetch_arg *arg, const struct fetch_source *src, u64 *value)
{
	u64 v = source_value(arg, src);

	for (unsigned i = 0; i < arg->nr_steps; i++)
		if (!read_memory(&v, v + arg->steps[i].offset, sizeof(v), arg->steps[i].user || src->user))
			return false;
	*value = v;
	return true;
}

/* ---- Strings */

/* Copy at most `room` bytes, with the zero; if `to` is NULL, only count them. 0: the string is not there. */
static unsigned copy_string(char *to, u64 from, unsigned room, bool user)
{
	char piece[64];
	unsigned done = 0;

	room = min(room, FETCH_STRING_MAX);
	while (done < room) {
		unsigned n = min_t(unsigned, sizeof(piece) - (from + done) % sizeof(piece), room - done), len;

		if (!read_memory(piece, from + done, n, user))
			return 0;
		len = strnlen(piece, n);
		if (to)
			memcpy(to + done, piece, len);
		done += len;
		if (len < n)
			break;
	}
	if (done == room)
		done--; /* cut */
	if (to)
		to[done] = '\0';
	return done + 1;
}

/* One string of an argument: its bytes with the zero, at most `room`, which is not 0. */
static unsigned one_string(const struct fetch_arg *arg, const struct fetch_source *src, u64 value, char *to,
			   unsigned room)
{
	char symbol[KSYM_SYMBOL_LEN];
	const char *text = symbol;
	bool own = arg->op >= FETCH_FIELD && !arg->nr_steps && !arg->pointers;

	if (arg->store == FETCH_SYMSTR) {
		scnprintf(symbol, sizeof(symbol), "%pS", (void *)value);
	} else if (own && (arg->op != FETCH_FIELD || value - (u64)src->record < 0x10000)) {
		text = (const char *)value; /* the kernel's own memory */
	} else {
		return copy_string(to, value + arg->last, room, arg->last_user || src->user);
	}
	return to ? strscpy(to, text, room) >= 0 ? strlen(to) + 1 : room : min_t(unsigned, strlen(text) + 1, room);
}

/* The address of string `n` of an argument. False: it cannot be read. */
static bool string_at(const struct fetch_arg *arg, const struct fetch_source *src, u64 base, unsigned n, u64 *addr)
{
	if (!arg->pointers) {
		*addr = base;
		return true;
	}
	return read_memory(addr, base + n * sizeof(u64), sizeof(*addr), src->user);
}

/*
 * The first look at the strings. Bytes beyond FETCH_STRINGS_MAX are cut off, because one_string() gets no room for
 * them.
 */
unsigned fetch_strings_size(const struct fetch_args *args, const struct fetch_source *src)
{
	unsigned size = 0;

	if (!args->dynamic)
		return 0;
	for (unsigned i = 0; i < args->nr; i++) {
		const struct fetch_arg *arg = args->args[i];
		u64 base, addr;

		if (!arg->type->is_string || !walk(arg, src, &base))
			continue;
		for (unsigned n = 0; n < (arg->count ?: 1); n++)
			if (size < FETCH_STRINGS_MAX && string_at(arg, src, base, n, &addr))
				size += one_string(arg, src, addr, NULL, FETCH_STRINGS_MAX - size);
	}
	return size;
}

/* ---- The record */

struct filler {
	const struct fetch_source *src;
	char *record;
	unsigned at, end; /* where the next string goes; where there is no more room */
};

static void fill_strings(struct filler *f, const struct fetch_arg *arg, bool there, u64 base)
{
	for (unsigned n = 0; n < (arg->count ?: 1); n++) {
		unsigned len = 0;
		u32 where;
		u64 addr;

		if (there && f->at < f->end && string_at(arg, f->src, base, n, &addr))
			len = one_string(arg, f->src, addr, f->record + f->at, f->end - f->at);
		where = f->at | len << 16;
		memcpy(f->record + arg->offset + n * sizeof(where), &where, sizeof(where));
		f->at += len;
	}
}

static void fill_memory(const struct filler *f, const struct fetch_arg *arg, bool there, u64 base)
{
	unsigned size = arg->type->size * (arg->count ?: 1);
	char *to = f->record + arg->offset;

	if (!there || !read_memory(to, base + arg->last, size, arg->last_user || f->src->user))
		memset(to, 0, size);
}

/* Shift the bits of a field up to the top of its number, and down to its bottom. */
static void cut_bits(char *at, const struct fetch_arg *arg)
{
	unsigned size = arg->type->size;
	u64 value = 0;

	memcpy(&value, at, size);
	value <<= arg->bits_left;
	if (size < 8)
		value &= (1ULL << size * 8) - 1;
	value >>= arg->bits_right;
	memcpy(at, &value, size);
}

/*
 * Each program in turn. Strings go behind the fields in the order of the arguments; a field of the record says where.
 */
void fetch_run(const struct fetch_args *args, const struct fetch_source *src, void *record, unsigned room)
{
	struct filler f = {.src = src, .record = record, .at = args->size, .end = args->size + room};

	for (unsigned i = 0; i < args->nr; i++) {
		const struct fetch_arg *arg = args->args[i];
		u64 value = 0;
		bool there = walk(arg, src, &value);

		if (arg->type->is_string)
			fill_strings(&f, arg, there, value);
		else if (arg->store == FETCH_MEM)
			fill_memory(&f, arg, there, value);
		else
			fetch_put_value(f.record + arg->offset, value, arg->type->size);
		if (arg->bits_left | arg->bits_right)
			for (unsigned n = 0; n < (arg->count ?: 1); n++)
				cut_bits(f.record + arg->offset + n * arg->type->size, arg);
	}
}

/* Reads what the arguments will read, in pieces that fit on the stack, so that missing pages are brought in now. */
void fetch_touch(const struct fetch_args *args, const struct fetch_source *src)
{
	for (unsigned i = 0; i < args->nr; i++) {
		const struct fetch_arg *arg = args->args[i];
		u64 value, words[8];

		if (!walk(arg, src, &value) || arg->type->is_string || arg->store != FETCH_MEM)
			continue;
		for (unsigned left = arg->type->size * (arg->count ?: 1); left;) {
			unsigned n = min_t(unsigned, left, sizeof(words));

			if (!read_memory(words, value + arg->last, n, arg->last_user || src->user))
				break;
			value += n;
			left -= n;
		}
	}
	fetch_strings_size(args, src);
}
