/*
 * The parser of fetch arguments: what words become, the columns of errors, and mutated words: whatever it takes it
 * shows in a form that it takes again, with the same meaning, and no memory is lost, also when there is none.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>
#include <errno.h>

#define sigset_t  k_sigset_t
#define timespec  k_timespec
#define timeval	  k_timeval
#define itimerval k_itimerval
#include "../../../kernel/lib/kstrto.c"
#include "../../../trace/dynevents/fetch_parse.c"
#include "../../../trace/dynevents/fetch_types.c"
#include "../../../trace/dynevents/names.c"

/* ---- The kernel around it */

/* It finds something at a hit alone, and there is no hit: what counts is whether it was asked. */
void fetch_find_plain(struct fetch_args *args)
{
	args->plain = true;
}

#include "parse_memory.h"

char *kasprintf(gfp_t gfp, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return kstrdup(text, gfp);
}
ssize_t strscpy(char *dst, const char *src, size_t size)
{
	snprintf(dst, size, "%s", src);
	return strlen(src) < size ? (ssize_t)strlen(src) : -E2BIG;
}
unsigned long kallsyms_lookup_name(const char *name)
{
	return !strcmp(name, "vfs_read") ? 0x1000 : 0;
}
int regs_query_register_offset(const char *name)
{
	return !strcmp(name, "x0") ? 0 : -EINVAL;
}
const unsigned fetch_dentry_name = 40, fetch_file_dentry = 8;
struct seq_file;
void seq_printf(struct seq_file *m, const char *fmt, ...)
{
}
void seq_puts(struct seq_file *m, const char *s)
{
}
void seq_putc(struct seq_file *m, char c)
{
}

static long column;
static const char *said;
int dyn_refuse(struct dyn_command *c, const char *at, const char *what)
{
	column = at - c->copy;
	said = what;
	assert_true(column >= 0 && column <= (long)strlen(c->text));
	return -EINVAL;
}

/* ---- A line: memory that ends where the line does, so that a step beyond it is found */

struct line {
	struct dyn_command c;
	char *text, *copy, *words[300];
};

static void split(struct line *l, const char *text)
{
	size_t len = strlen(text);

	*l = (struct line){.text = strdup(text), .copy = strdup(text)};
	l->c = (struct dyn_command){.text = l->text, .copy = l->copy, .words = l->words};
	for (char *at = l->copy; at < l->copy + len && l->c.nr < 298; at++) {
		if (*at == ' ')
			*at = '\0';
		else if (at == l->copy || !at[-1])
			l->words[l->c.nr++] = at;
	}
}

static void drop(struct line *l)
{
	free(l->text);
	free(l->copy);
}

/* The record of another event, for FETCH_OF_EVENT. */
static const struct trace_event_field own[] = {
	{"int", "comm", 8, 4, true, FILTER_OTHER}, {"u64", "name", 16, 8, false, FILTER_OTHER}, {}};
static const struct trace_event_field *const fields_of_event[2] = {own, own + 2};

static int parse(struct fetch_args *args, const char *text, unsigned flags)
{
	struct line l;
	int err;

	split(&l, text);
	*args = (struct fetch_args){.head = 16};
	err = fetch_parse(args, &l.c, 0, flags, flags & FETCH_OF_EVENT ? fields_of_event : NULL);
	drop(&l);
	return err;
}

/* ---- Tests */

/* Each part of the language once, as the program that comes of it. */
static void test_programs(void **state)
{
	struct fetch_args args;
	const struct fetch_arg *a;

	assert_int_equal(parse(&args, "b=+8(-16(+u4(%x0))):s32[3] $arg2:b3@5/16 t=\\\"a\" @vfs_read-1:string $stack",
			       FETCH_KERNEL | FETCH_ENTRY),
			 0);
	assert_int_equal(args.nr, 5);
	a = args.args[0];
	assert_true(a->op == FETCH_REG && a->store == FETCH_MEM && a->nr_steps == 2 && a->count == 3);
	assert_true(a->steps[0].offset == 4 && a->steps[0].user && a->steps[1].offset == -16 && a->last == 8);
	assert_true(a->offset == 16 && !strcmp(a->word, "+8(-16(+u4(%x0))):s32[3]"));
	a = args.args[1];
	assert_true(a->op == FETCH_ARG && a->param == 1 && a->bits_left == 8 && a->bits_right == 13 && a->offset == 28);
	assert_true(args.args[2]->op == FETCH_TEXT && !strcmp(args.args[2]->text, "a") && args.dynamic);
	a = args.args[3];
	assert_true(a->op == FETCH_IMM && a->imm == 0xfff && a->store == FETCH_STRING && !a->nr_steps);
	assert_true(args.args[4]->op == FETCH_STACKP && args.args[4]->offset == 38 && args.size == 46);
	fetch_free(&args);
	assert_int_equal(parse(&args, "$arg3 $arg1 x=$arg3", FETCH_KERNEL | FETCH_RETURN), 0);
	assert_true(args.nr_entry == 2 && args.entry[0] == 2 && args.entry[1] == 0);
	assert_true(args.args[2]->op == FETCH_ENTRY_ARG && args.args[2]->param == 0);
	fetch_free(&args);
	assert_int_equal(parse(&args, "$arg1 $arg257", FETCH_KERNEL | FETCH_RETURN), 0);
	assert_true(args.nr_entry == 2 && args.entry[0] == 0 && args.entry[1] == 256);
	fetch_free(&args);
	assert_int_equal(allocated, 0);
}

/* Places that have no registers: a tracepoint with its arguments, and a record with its fields. */
static void test_without_registers(void **state)
{
	struct fetch_args args;

	assert_int_equal(parse(&args, "$arg12 a=+8($arg1):u8 $stack", FETCH_KERNEL | FETCH_TPOINT | FETCH_NO_REGS), 0);
	assert_true(args.args[0]->op == FETCH_ENTRY_ARG && args.args[0]->param == 11 && !args.nr_entry);
	assert_true(args.args[1]->op == FETCH_ENTRY_ARG && !args.args[1]->param && args.args[2]->op == FETCH_STACKP);
	fetch_free(&args);
	assert_int_equal(parse(&args, "$stack", FETCH_KERNEL | FETCH_TPOINT | FETCH_NO_REGS), 0);
	assert_false(args.plain); /* the stack pointer is in no struct pt_regs */
	fetch_free(&args);
	assert_int_equal(parse(&args, "$stack", FETCH_KERNEL | FETCH_NO_REGS | FETCH_ENTRY), 0);
	assert_true(args.plain);
	fetch_free(&args);
	for (unsigned i = 0; i < 3; i++) {
		static const char *const wrong[] = {"$arg13", "%x0", "$retval"};

		assert_int_equal(parse(&args, wrong[i], FETCH_KERNEL | FETCH_TPOINT | FETCH_NO_REGS), -EINVAL);
		fetch_free(&args);
	}
	assert_int_equal(parse(&args, "$name t=$COMM %x0", FETCH_KERNEL | FETCH_OF_EVENT | FETCH_NO_REGS), -EINVAL);
	fetch_free(&args);
	assert_int_equal(parse(&args, "$name t=$COMM +0($name):ustring", FETCH_KERNEL | FETCH_OF_EVENT | FETCH_NO_REGS),
			 0);
	assert_true(args.args[0]->op == FETCH_FIELD && args.args[0]->field == &own[1] && args.args[0]->offset == 16);
	assert_true(!strcmp(args.args[0]->name, "name") && args.args[1]->op == FETCH_COMM);
	assert_true(args.args[2]->op == FETCH_FIELD && args.args[2]->store == FETCH_STRING && args.args[2]->last_user);
	fetch_free(&args);
	assert_int_equal(allocated, 0);
}

/* The caret stands in the text itself. */
static void test_columns(void **state)
{
	static const char *const wrong[] = {
		"^$retval",
		"^$stack10000",
		"^$arg10000",
		"^$none",
		"^%none",
		"^@12345678abcde",
		"^@+10",
		"a=\\^x",
		"a=\\\"abcd^",
		"^+0@0)",
		"^+0ab1(@0)",
		"+0(+0(@0^)",
		"+0(^$comm)",
		"^&1",
		"+0(@11):u8[10^",
		"+0(@1):u8[10]^a",
		"+0(@1):u8[^a]",
		"+0(@11):u8[^256]",
		"@11:^unknown",
		"$stack0:^string",
		"@11:^b10@a/16",
		"^=@11",
		"^var.1=@11",
		"v=@11 ^v=@12",
		"a=^",
		"^common_pid=@1",
		"@1:^b65@0/64",
		"$comm:^x64",
		"^$arg*",
		"+0(%x0)^+10",
		"^arg123456789012345678901234567890=@11",
		"+0(^+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(@0))))))))))))))",
		"^+1234567(+1234567(+1234567(+1234567(+1234567(+1234567(@1234))))))",
	};

	static const char *const unknown[] = {"@none", "@none+8", "@-8", "@vfs_read+x"};

	for (unsigned i = 0; i < ARRAY_SIZE(unknown); i++) {
		struct fetch_args args;

		if (parse(&args, unknown[i], FETCH_KERNEL | FETCH_ENTRY) != -ENOENT || column != 0)
			fail_msg("%s: column %ld, %s", unknown[i], column, said);
		fetch_free(&args);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
		long at = strchr(wrong[i], '^') - wrong[i];
		char text[128];
		struct fetch_args args;

		snprintf(text, sizeof(text), "%.*s%s", (int)at, wrong[i], wrong[i] + at + 1);
		if (parse(&args, text, FETCH_KERNEL | FETCH_ENTRY) != -EINVAL || column != at)
			fail_msg("%s: column %ld, %s", wrong[i], column, said);
		fetch_free(&args);
	}
	assert_int_equal(allocated, 0);
}

static char random_byte(void)
{
	static const char some[] = "+-()[]@$%\\\"=: .#0123456789uxsbargstringretvalcommstackvfs_readpdD";

	return host_random() % 8 ? some[host_random() % (sizeof(some) - 1)] : (char)(1 + host_random() % 255);
}

/* Some bytes more, less, or others, with blanks alone between words, as the kernel splits lines. */
static void mutate(char *text, size_t size)
{
	for (unsigned n = 1 + host_random() % 2; n; n--) {
		size_t len = strlen(text), at = host_random() % (len + 1), some = 1 + host_random() % 3;

		if (host_random() % 2 && len + some < size) {
			memmove(text + at + some, text + at, len - at + 1);
			for (size_t i = 0; i < some; i++)
				text[at + i] = host_random() % 2 ? random_byte() : text[at + some];
		} else if (at + some <= len) {
			memmove(text + at, text + at + some, len - at - some + 1);
		} else if (at < len) {
			text[at] = random_byte();
		}
	}
	for (char *c = text; *c; c++)
		if (strchr("\t\n\v\f\r", *c))
			*c = ' ';
}

/* What was taken is shown, and taken again. */
static void again(const struct fetch_args *args, unsigned flags)
{
	static const struct trace_event_field head[] = {{"unsigned long", "__probe_ip", 8, 8, false, FILTER_OTHER}, {}};
	struct trace_event_field *fields = fetch_fields(args, head);
	char *fmt = fetch_print_fmt(args, "(%lx)", ", REC->__probe_ip"), text[8192] = "";
	struct fetch_args twice;

	assert_true(fields && fmt && fmt[strlen(fmt) - 1] != ',');
	for (unsigned i = 0; i < args->nr; i++) {
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s=%s", i ? " " : "", args->args[i]->name,
			 args->args[i]->word);
		assert_true(fields[1 + i].offset == args->args[i]->offset && args->args[i]->nr_steps < FETCH_STEPS_MAX);
	}
	if (parse(&twice, text, flags))
		fail_msg("not taken again: %s: %s", text, said);
	assert_true(fetch_same_words(args, &twice) && fetch_differ(args, &twice) == args->nr &&
		    args->size == twice.size);
	fetch_free(&twice);
	fetch_fields_free(fields);
	kvfree(fmt);
}

/* One round in seven has memory for few allocations only. */
static void test_mutated(void **state)
{
	static const char *const good[] = {
		"a=$arg1 b=+8($arg2):u32 c=$stack2 d=$stack",
		"@vfs_read:string[2] n=\\17:s8 t=\\\"abc\"",
		"x=+0(-16(+u8(@vfs_read+4))):x8[12] %x0:b4@3/16",
		"+0(+4($arg1)):ustring $arg1:symbol $arg1:symstr $arg1:%pd $arg2:%pD",
		"$retval:s64 n=$arg1 $comm:string @+16 @0xffff000012345678:char[4]",
		"$name t=$COMM +0($name):ustring c=$comm:x32 f=+4(+0($name)):string[2]",
	};
	/* Of kprobes, uprobes, fprobes, tracepoint probes and event probes. */
	static const unsigned kinds[] = {FETCH_KERNEL | FETCH_ENTRY,
					 FETCH_KERNEL,
					 FETCH_KERNEL | FETCH_RETURN,
					 FETCH_USER,
					 FETCH_KERNEL | FETCH_NO_REGS | FETCH_ENTRY,
					 FETCH_KERNEL | FETCH_NO_REGS | FETCH_RETURN,
					 FETCH_KERNEL | FETCH_NO_REGS | FETCH_TPOINT,
					 FETCH_KERNEL | FETCH_NO_REGS | FETCH_OF_EVENT};
	unsigned taken = 0;

	for (unsigned i = 0; i < 100000; i++) {
		unsigned flags = kinds[host_random() % ARRAY_SIZE(kinds)];
		struct fetch_args args;
		char text[400];
		int err;

		strcpy(text, good[host_random() % ARRAY_SIZE(good)]);
		mutate(text, sizeof(text));
		if (!(i % 7))
			allocations_left = host_random() % 20;
		err = parse(&args, text, flags);
		allocations_left = -1;
		assert_true(!err || err == -EINVAL || err == -ENOENT || err == -ENOMEM);
		if (!err && args.nr) {
			taken++;
			again(&args, flags);
		}
		fetch_free(&args);
		if (allocated)
			fail_msg("%ld pieces of memory lost by: %s", allocated, text);
	}
	if (taken < 2000)
		fail_msg("only %u of 100000 were taken", taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_without_registers),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
