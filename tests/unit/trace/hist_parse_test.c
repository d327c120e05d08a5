/*
 * The parsers of histogram commands and of synthetic events: mutated commands, of which one in seven has memory for few
 * allocations only. Whatever is taken is shown as a text that is taken again and shown alike; what is refused has
 * Linux's errno, and a column that lies in the command; and no memory is lost, nor is a reference to another histogram.
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
#include "../../../trace/hist/action.c"
#include "../../../trace/hist/expr.c"
#include "../../../trace/hist/spec.c"
#include "../../../trace/hist/vars.c"
#include "../../../trace/hist/parse.c"
#define parse_field synth_parse_field /* both rooms have functions of these names */
#define parse_part  synth_parse_part
#include "../../../trace/synth/parse.c"

/* ---- The kernel around it */

#include "parse_memory.h"

char *kasprintf(gfp_t gfp, const char *fmt, ...)
{
	char text[4096];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return kstrdup(text, gfp);
}
int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return min(n, (int)size - 1);
}
char *strim(char *s)
{
	char *end = s + strlen(s);

	while (end > s && isspace(end[-1]))
		*--end = '\0';
	while (isspace(*s))
		s++;
	return s;
}
void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	size_t room = m->size - m->count;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(m->buf + m->count, room, fmt, args);
	va_end(args);
	m->count += min((size_t)n, room);
}
void seq_puts(struct seq_file *m, const char *s)
{
	seq_printf(m, "%s", s);
}
void seq_putc(struct seq_file *m, char c)
{
	seq_printf(m, "%c", c);
}
void hist_map_free(struct hist_map *map)
{
}
const char trace_rings_are_mapped[] = "mapped";
static int armed;
int tracing_arm_snapshot(struct trace_array *tr)
{
	armed++;
	return 0;
}
void tracing_disarm_snapshot(struct trace_array *tr)
{
	assert_true(armed-- > 0);
}
void hist_set_var(struct hist *h, void *elt, unsigned n, const struct hist_hit *hit)
{
	fail();
}
void tracing_snapshot_instance(struct trace_array *tr)
{
	fail();
}
void synth_event_trace(struct synth_event *e, const u64 *values)
{
	fail();
}

/* Of numbers alone, as fold() asks for it. */
u64 hist_eval(const struct hist_field *f, const struct hist_hit *hit)
{
	u64 a = f->operand[0]->number, b = f->operand[1]->number;

	return f->op == HIST_PLUS ? a + b : f->op == HIST_MINUS ? a - b : f->op == HIST_TIMES ? a * b : a / b;
}

/* ---- Two events, test.first and test.other, and a synthetic one */

static const struct trace_event_field fields[] = {
	{"u32", "pid", 8, 4, false, FILTER_OTHER},
	{"s64", "lat", 16, 8, true, FILTER_OTHER},
	{"char[16]", "comm", 24, 16, false, FILTER_STATIC_STRING},
	{"__data_loc char[]", "name", 40, 4, false, FILTER_DYN_STRING},
	{"__data_loc unsigned long[]", "stack", 44, 4, false, FILTER_NONE},
	{"int[4]", "numbers", 48, 16, true, FILTER_NONE},
	{},
};
const struct trace_event_field trace_common_fields[] = {{"int", "common_pid", 4, 4, true, FILTER_OTHER}, {}};

static const struct trace_event_field *get_fields(void)
{
	return fields;
}
static struct trace_event_class class = {.system = "test", .fields = get_fields};
static struct trace_event_call first_call = {.name = "first", .class = &class};
static struct trace_event_call other_call = {.name = "other", .class = &class};
static struct trace_array tr;
static struct trace_event_file first = {.call = &first_call, .tr = &tr}, other = {.call = &other_call, .tr = &tr};
static long pins, held;

struct trace_event_file *trace_event_find_any(struct trace_event_set *set, const char *system, const char *name)
{
	if (strcmp(system, "test"))
		return NULL;
	return !strcmp(name, "first") ? &first : !strcmp(name, "other") ? &other : NULL;
}
int trace_event_pin(struct trace_event_file *file)
{
	pins++;
	return 0;
}
void trace_event_unpin(struct trace_event_file *file)
{
	pins--;
}

/* "u64 lat; pid_t pid" */
static int synth;
struct synth_event *synth_event_find(const char *name)
{
	return strcmp(name, "made") ? NULL : (struct synth_event *)&synth;
}
void synth_event_hold(struct synth_event *e)
{
	held++;
}
void synth_event_drop(struct synth_event *e)
{
	held--;
}
unsigned synth_event_nr_fields(const struct synth_event *e)
{
	return 2;
}
bool synth_event_takes(const struct synth_event *e, unsigned n, const char *type, unsigned size, bool is_signed,
		       bool is_text, bool is_stack)
{
	return n < 2 && !is_text && !is_stack;
}

/* ---- Histograms in force */

static LIST_HEAD(hists);

struct hist *hist_first(void)
{
	return list_empty(&hists) ? NULL : list_first_entry(&hists, struct hist, list);
}
struct hist *hist_next(const struct hist *h)
{
	return h->list.next == &hists ? NULL : list_entry(h->list.next, struct hist, list);
}
void hist_put(struct hist *h)
{
	if (!h->users && !h->ref_users)
		hist_free(h);
}

static const struct trigger_command command = {.name = "hist", .type = TRIGGER_HIST};
static struct hist_trigger on_other = {.trigger = {.command = &command, .file = &other}};

/* A histogram of test.other for a parameter, as command.c makes one. */
int hist_add_automatic(struct hist_trigger *like, const char *field)
{
	struct hist_parse p = {.file = like->trigger.file, .automatic = true};
	char text[512];
	int err;

	snprintf(text, sizeof(text), "keys=pid:synthetic_%s=%s", field, field);
	err = hist_parse(&p, text);
	if (!err) {
		list_add_tail(&p.hist->list, &hists);
		p.hist->users = 1;
		p.hist = NULL;
	}
	hist_parse_end(&p);
	return err;
}

/* Those that have no reference any more go. */
static void sweep(void)
{
	struct hist *h = hist_first();

	while (h) {
		struct hist *next = hist_next(h);

		if (h->automatic && !h->ref_users) {
			list_del(&h->list);
			hist_free(h);
		}
		h = next;
	}
}

/* ---- Errors */

static unsigned told;

void hist_errors_begin(void)
{
	told = 0;
}
/* A place in the command, or a text by itself: both are read to their end. */
int hist_note(const struct hist_parse *p, const char *what, const char *at)
{
	size_t len = strlen(p->command);

	assert_true(!at || (at >= p->work && at <= p->work + len) || strlen(at) <= len);
	return -EINVAL;
}
int hist_error(const struct hist_parse *p, enum hist_err err, const char *at)
{
	told++;
	return hist_note(p, NULL, at);
}

int dyn_refuse_raw(struct dyn_command *c, const char *at, const char *what)
{
	assert_true(!at || (at >= c->text && at <= c->text + strlen(c->text)));
	assert_true(*what);
	return -EINVAL;
}
bool dyn_name_is_good(const char *name, bool dashes)
{
	for (const char *c = name; *c; c++)
		if (!isalnum(*c) && *c != '_')
			return false;
	return *name && !isdigit(*name);
}

/* ---- Commands */

/* As command.c does it, but for the map: 0 or -errno. */
static int take(struct hist_parse *p, struct trace_event_file *file, const char *text)
{
	char *exact = strdup(text); /* it ends where its memory does */
	int err;

	*p = (struct hist_parse){.file = file};
	err = hist_parse(p, exact) ?: hist_create_actions(p);
	free(exact);
	return err;
}

static void drop(struct hist_parse *p)
{
	hist_parse_end(p);
	sweep();
}

/* The text of what was taken, to be freed. */
static char *shown(const struct hist_parse *p)
{
	char *spec = hist_spec_text(p->hist, p->filter), *copy;

	assert_non_null(spec);
	copy = strdup(spec);
	kfree(spec);
	return copy;
}

static char random_byte(const char *some)
{
	return host_random() % 8 ? some[host_random() % strlen(some)] : (char)(1 + host_random() % 255);
}

/* Some bytes more, less, or others. */
static void mutate(char *text, size_t size, const char *bytes)
{
	for (unsigned n = host_random() % 3; n; n--) {
		size_t len = strlen(text), at = host_random() % (len + 1), some = 1 + host_random() % 3;

		if (host_random() % 2 && len + some < size) {
			memmove(text + at + some, text + at, len - at + 1);
			for (size_t i = 0; i < some; i++)
				text[at + i] = host_random() % 2 ? random_byte(bytes) : text[at + some];
		} else if (at + some <= len) {
			memmove(text + at, text + at + some, len - at - some + 1);
		} else if (at < len) {
			text[at] = random_byte(bytes);
		}
	}
}

static const char *const good[] = {
	"keys=pid",
	"key=pid.buckets=8,comm:vals=lat,hitcount:sort=lat.descending,pid:size=256",
	"keys=common_pid.execname:values=lat.percent,lat.graph:nohitcount if pid > 3",
	"keys=pid.log2:val=lat.hex:name=both:clock=mono:pause",
	"keys=common_stacktrace,pid.sym-offset,lat.syscall:cont",
	"keys=stack.stacktrace:clear",
	"keys=pid:ts0=common_timestamp.usecs,b=lat:c=$b+lat-2*3",
	"keys=pid:d=common_timestamp.usecs-$ts:onmatch(test.other).made($d,pid)",
	"keys=pid:d=-(lat+4):onmax($d).save(comm,lat,name)",
	"keys=pid:d=lat:onchange($d).snapshot():onmatch(test.other).trace(made,$d,test.other.$ts)",
	"keys=pid:onmatch(test.other).made(test.other.lat,pid)",
	"keys=comm,name:a=3,e=common_pid.execname,f=$a*lat:vals=lat.hex:sort=hitcount.ascending",
};
#define BYTES "=:,.$()+-*/ _0123456789abcdehiklmnopstuvxyOM<>\"\t"

/* A round: two of three are mutated. */
static void one_command(unsigned i, unsigned *taken)
{
	struct hist_parse p;
	char text[600], *spec = NULL, *again;
	long before = allocated;
	int err;

	strcpy(text, good[host_random() % ARRAY_SIZE(good)]);
	mutate(text, sizeof(text), BYTES);
	if (!(i % 7))
		allocations_left = host_random() % 60;
	err = take(&p, &first, text);
	allocations_left = -1;
	assert_true(!err || err == -EINVAL || err == -ENOENT || err == -ENOMEM || err == -EEXIST || err == -EDOM ||
		    err == -ERANGE);
	assert_true(err != -ENOMEM || !(i % 7));
	if (!err) {
		++*taken;
		spec = shown(&p);
	}
	drop(&p);
	if (spec) {
		if (take(&p, &first, spec + strlen("hist:")))
			fail_msg("%s is shown as %s, which is not taken", text, spec);
		again = shown(&p);
		if (strcmp(spec, again))
			fail_msg("%s is shown as %s, and that as %s", text, spec, again);
		free(again);
		drop(&p);
		free(spec);
	}
	if (allocated != before || pins || held)
		fail_msg("%ld pieces of memory, %ld pins, %ld synthetic events lost by: %s", allocated - before, pins,
			 held, text);
}

/* test.other has a histogram. Commands on test.first may read its variable, and leave no reference to it behind. */
static void test_mutated_commands(void **state)
{
	struct hist_parse p;
	unsigned taken = 0;

	assert_int_equal(take(&p, &other, "keys=pid:ts=common_timestamp.usecs"), 0);
	p.hist->users = 1;
	list_add_tail(&p.hist->list, &hists);
	on_other.hist = p.hist;
	other.triggers = &on_other.trigger;
	p.hist = NULL;
	hist_parse_end(&p);
	for (unsigned i = 0; i < ARRAY_SIZE(good); i++) {
		if (take(&p, &first, good[i]))
			fail_msg("not taken: %s", good[i]);
		drop(&p);
	}
	for (unsigned i = 0; i < 100000; i++)
		one_command(i, &taken);
	if (taken < 30000)
		fail_msg("only %u of 100000 were taken", taken);
	assert_int_equal(on_other.hist->ref_users, 0);
	hist_free(on_other.hist);
	assert_int_equal(allocated, 0);
}

/* What is taken has good names and types that it can print, and a size if and only if it has no place of its own. */
static void test_mutated_synthetic_events(void **state)
{
	static const char *const lines[] = {
		"u64 lat; pid_t pid; char comm[16]",
		"unsigned long a;char b[];long[] stack; unsigned char c",
		"s8 a s16 b;u32 c ;gfp_t flags;bool x;",
	};
	unsigned taken = 0;

	for (unsigned i = 0; i < 100000; i++) {
		struct synth_field table[SYNTH_FIELDS_MAX] = {};
		char text[200], *exact;
		unsigned nr = 0;
		int err;

		strcpy(text, lines[host_random() % ARRAY_SIZE(lines)]);
		mutate(text, sizeof(text), "; []_0123456789abcdefghilmnoprstux\t");
		exact = strdup(text);
		if (!(i % 7))
			allocations_left = host_random() % 12;
		err = synth_parse_fields(&(struct dyn_command){.text = exact}, exact, table, &nr);
		allocations_left = -1;
		assert_true(!err || err == -EINVAL || (err == -ENOMEM && !(i % 7)));
		assert_true(nr <= SYNTH_FIELDS_MAX && (err || nr));
		for (unsigned f = 0; f < nr && !err; f++) {
			assert_true(dyn_name_is_good(table[f].name, false) && *synth_field_format(&table[f]) == '%');
			assert_true(table[f].is_dynamic == !table[f].size && table[f].size <= SYNTH_TEXT_MAX);
		}
		taken += !err;
		synth_free_fields(table, nr);
		free(exact);
		if (allocated)
			fail_msg("%ld pieces of memory lost by: %s", allocated, text);
	}
	if (taken < 30000)
		fail_msg("only %u of 100000 were taken", taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutated_commands),
		cmocka_unit_test(test_mutated_synthetic_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
