/*
 * Event filters: random expressions over random records against an evaluator of their trees, and mutated texts. A tree
 * is made first, then printed with random spaces and parentheses; the filter of that text must give for each record
 * what the tree gives. The evaluator shares no code with the kernel's filters.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <fnmatch.h>

#include "trace_filter_host.h"

static int below(int n)
{
	return host_random() % n;
}

/* ---- Expressions as trees, and what they mean */

enum { TERM, NOT, AND, OR };
static const char *const numbers[] = {"s1",  "u1",  "s2",	  "u2",		  "s4",	 "u4",
				      "s8_", "u8_", "common_pid", "common_flags", "CPU", "cpus_loc"};
#define CPUS_FIELD 11
static const char *const texts[] = {"text", "loc", "ptr", "comm", "rloc"};
static const char *const ops[] = {"~", "!=", "==", "<=", "<", ">=", ">", "&"};

struct node {
	int kind, op;
	int number, text; /* of numbers, of texts; -1 */
	long long value;
	char pattern[8];
	u64 cpus;
	bool is_set; /* against cpus */
	struct node *left, *right;
};

static struct node nodes[256];
static int nr_nodes;

/*
 * A comparison of a number, a set of CPUs or a text with a value that often matches, of a kind that the field can
 * hold.
 */
static struct node *random_term(void)
{
	struct node *n = &nodes[nr_nodes++];

	*n = (struct node){.kind = TERM, .number = -1, .text = -1};
	if (!below(4)) {
		n->number = below(ARRAY_SIZE(numbers));
		n->op = "\1\2\7"[below(3)];
		n->is_set = true;
		while (!n->cpus)
			n->cpus = below(2) ? 1ULL << below(6) : host_random() >> below(64);
		return n;
	}
	if (below(3)) {
		n->number = below(CPUS_FIELD);
		n->op = 1 + below(7);
		n->value = below(4) ? below(5) : (long long)(host_random() >> below(64));
		if (n->value < 0 && (n->number & 1) && n->number < 9)
			n->value = ~n->value;
		if (!(n->number & 1) && below(2))
			n->value = -(n->value & ~(1ULL << 63));
		if (n->number == 9 && n->value < 0)
			n->value = 1;
		return n;
	}
	n->text = below(ARRAY_SIZE(texts));
	n->op = below(3);
	for (int i = 0, len = below(7); i < len; i++)
		n->pattern[i] = n->op ? "ab"[below(2)] : "ab*?"[below(4)];
	return n;
}

static struct node *random_tree(int depth)
{
	struct node *n;
	int kind = depth ? below(5) : 0;

	if (kind <= 1)
		return random_term();
	n = &nodes[nr_nodes++];
	*n = (struct node){.kind = kind - 1};
	n->left = random_tree(depth - 1);
	n->right = n->kind == NOT ? NULL : random_tree(depth - 1);
	return n;
}

#define COMPARE(type, field)                          \
	do {                                          \
		type a = (field), b = (type)n->value; \
		switch (n->op) {                      \
		case 1:                               \
			return a != b;                \
		case 2:                               \
			return a == b;                \
		case 3:                               \
			return a <= b;                \
		case 4:                               \
			return a < b;                 \
		case 5:                               \
			return a >= b;                \
		case 6:                               \
			return a > b;                 \
		default:                              \
			return (a & b) != 0;          \
		}                                     \
	} while (0)

/* A number as the set of itself. False: no CPU has it. */
static bool as_set(const struct node *n, const struct record *r, u64 *set)
{
	const u64 values[] = {(u8)r->s1,   r->u1,  (u16)r->s2,	    r->u2,	  (u32)r->s4,	r->u4,
			      (u64)r->s8_, r->u8_, (u32)r->ent.pid, r->ent.flags, host_task.cpu};

	memcpy(set, r->cpus, 8);
	if (n->number == CPUS_FIELD)
		return true;
	if (values[n->number] >= 64)
		return false;
	*set = 1ULL << values[n->number];
	return true;
}

/* What no CPU has is not equal to one of them, but no more than that is said of several. */
static bool set_is(const struct node *n, const struct record *r)
{
	u64 set;

	if (!as_set(n, r, &set))
		return n->op == 1 && !(n->cpus & (n->cpus - 1));
	return n->op == 7 ? (set & n->cpus) != 0 : (set == n->cpus) == (n->op == 2);
}

/* What C says of the comparison, in the field's own type. */
static bool number_is(const struct node *n, const struct record *r)
{
	if (n->is_set)
		return set_is(n, r);
	switch (n->number) {
	case 0:
		COMPARE(signed char, r->s1);
	case 1:
		COMPARE(unsigned char, r->u1);
	case 2:
		COMPARE(short, r->s2);
	case 3:
		COMPARE(unsigned short, r->u2);
	case 4:
		COMPARE(int, r->s4);
	case 5:
		COMPARE(unsigned, r->u4);
	case 6:
		COMPARE(long long, r->s8_);
	case 7:
		COMPARE(unsigned long long, r->u8_);
	case 8:
		COMPARE(int, r->ent.pid);
	case 9:
		COMPARE(unsigned char, r->ent.flags);
	default:
		COMPARE(int, (int)host_task.cpu);
	}
}

/* What C's library says of the comparison. */
static bool text_is(const struct node *n, const struct record *r)
{
	char text[16];
	bool same;

	switch (n->text) {
	case 0:
		snprintf(text, sizeof(text), "%.6s", r->text);
		break;
	case 1:
		snprintf(text, sizeof(text), "%.*s", (int)(r->loc >> 16), (const char *)r + (r->loc & 0xffff));
		break;
	case 2:
		if (!r->ptr)
			return false;
		snprintf(text, sizeof(text), "%s", r->ptr);
		break;
	case 4:
		snprintf(text, sizeof(text), "%.*s", (int)(r->rloc >> 16),
			 (const char *)(&r->rloc + 1) + (r->rloc & 0xffff));
		break;
	default:
		snprintf(text, sizeof(text), "%s", host_task.comm);
	}
	same = n->op ? !strcmp(n->pattern, text) : !fnmatch(n->pattern, text, 0);
	return n->op == 1 ? !same : same;
}

static bool tree_is(const struct node *n, const struct record *r)
{
	switch (n->kind) {
	case NOT:
		return !tree_is(n->left, r);
	case AND:
		return tree_is(n->left, r) && tree_is(n->right, r);
	case OR:
		return tree_is(n->left, r) || tree_is(n->right, r);
	default:
		return n->number >= 0 ? number_is(n, r) : text_is(n, r);
	}
}

/* ---- As text: parentheses where they are needed, and now and then where they are not */

static char *space(char *to)
{
	while (!below(3))
		*to++ = " \t"[below(2)];
	return to;
}

/* One list of many that mean the same. */
static char *print_cpus(char *to, u64 cpus)
{
	to += sprintf(to, "CPUS{%s", below(8) ? "" : " ,");
	for (int cpu = 0, last; cpu < 64; cpu = last + 1) {
		last = cpu;
		if (!(cpus >> cpu & 1))
			continue;
		while (last < 63 && (cpus >> (last + 1) & 1) && below(8))
			last++;
		to += sprintf(to, "%d", cpu);
		if (last > cpu)
			to += sprintf(to, "-%d", last);
		to += sprintf(to, below(8) ? "," : " ");
	}
	to[-1] = '}';
	*to = '\0';
	return to;
}

/* A term with random spaces, quotes and bases. */
static char *print_term(char *to, const struct node *n)
{
	const char *quote = below(2) ? "'" : "\"";

	to += sprintf(to, "%s", n->number >= 0 ? numbers[n->number] : texts[n->text]);
	to = space(to);
	to += sprintf(to, "%s", ops[n->op]);
	to = space(to);
	if (n->is_set)
		return print_cpus(to, n->cpus);
	if (n->number < 0)
		return to + sprintf(to, "%s%s%s", quote, n->pattern, quote);
	if (n->value < 0)
		return to + sprintf(to, "%lld", n->value);
	return to + sprintf(to, below(2) ? "%llu" : "0x%llx", n->value);
}

/* `binds`: what stands around it; NOT binds most. */
static char *print_tree(char *to, const struct node *n, int binds)
{
	static const int strength[] = {[TERM] = 4, [NOT] = 3, [AND] = 2, [OR] = 1};
	bool parens = strength[n->kind] < binds || !below(8);

	to = space(to);
	if (parens) {
		*to++ = '(';
		to = space(to);
	}
	if (n->kind == TERM) {
		to = print_term(to, n);
	} else if (n->kind == NOT) {
		*to++ = '!';
		to = print_tree(to, n->left, 3);
	} else {
		to = print_tree(to, n->left, strength[n->kind]);
		to = space(to);
		to += sprintf(to, n->kind == AND ? "&&" : "||");
		to = print_tree(to, n->right, strength[n->kind]);
	}
	to = space(to);
	if (parens)
		*to++ = ')';
	*to = '\0';
	return to;
}

/*
 * A record with small values, so that comparisons are often true, and sometimes with any; and a task and CPU for it.
 */
static void random_record(struct record *r)
{
	static const char *const pointers[] = {"a", "ab", "abba", "", NULL};
	u64 *words = (u64 *)r;

	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < offsetof(struct record, text) / 8; i++)
		words[i] = below(2) ? host_random() : host_random() & 0x0303030303030303;
	r->ent.pid = below(6) - 2;
	if (below(2))
		r->s4 = r->s2 = below(5) - 2;
	for (unsigned i = 0, len = below(7); i < len; i++)
		r->text[i] = "ab"[below(2)];
	for (unsigned i = 0, len = below(9); i < len; i++)
		r->data[i] = "ab"[below(2)];
	r->loc = offsetof(struct record, data) | below(9) << 16;
	r->rloc = (offsetof(struct record, data) - offsetof(struct record, rloc) - 4) | below(9) << 16;
	r->ptr = pointers[below(5)];
	r->cpus_loc = offsetof(struct record, cpus) | 8 << 16;
	r->cpus[0] = below(8);
	for (int i = 1; i < 8 && !below(3); i++)
		r->cpus[i] = host_random();
	if (!below(3))
		r->u1 = r->s1 = r->u4 = below(64);
	strcpy(host_task.comm, pointers[below(4)]);
	host_task.cpu = below(4);
}

#define ROUNDS(n) ((n) * (getenv("SOAK_MINUTES") ? 50 : 1))

/* 10,000 expressions, each on 20 records. Both answers must come often, or the test would prove nothing. */
static void test_expressions_against_their_trees(void **state)
{
	static char text[65536];
	struct filter_problem problem;
	struct record r;
	unsigned passed = 0, refused = 0;

	for (int round = 0; round < ROUNDS(10000); round++) {
		struct event_filter *filter;
		struct node *tree;

		nr_nodes = 0;
		tree = random_tree(below(7));
		print_tree(text, tree, 0);
		filter = parse_exact(text, &problem);
		if (IS_ERR(filter))
			fail_msg("%ld, error %d at %u: %s", PTR_ERR(filter), problem.error, problem.column, text);
		for (int i = 0; i < 20; i++) {
			bool wanted;

			random_record(&r);
			wanted = tree_is(tree, &r);
			if (filter_match(filter, &r) != wanted)
				fail_msg("not %d: %s", wanted, text);
			passed += wanted;
			refused += !wanted;
		}
		filter_free(filter);
	}
	assert_true(passed > 20000 && refused > 20000);
	assert_int_equal(allocated, 0);
}

/* ---- Texts that are nearly right */

/* One change: a letter replaced, removed or put in, or the beginning doubled. */
static void mutate(char *text)
{
	static const char letters[] = "()!&|<>=~\"' \t0x9-_acCPUs1\\[*{},S:/N";
	size_t len = strlen(text), at = below(len + 1);

	switch (below(4)) {
	case 0:
		text[at] = at == len ? '\0' : letters[below(sizeof(letters) - 1)];
		break;
	case 1:
		memmove(text + at, text + at + (at < len), len - at + (at == len));
		break;
	case 2:
		memmove(text + at + 1, text + at, len - at + 1);
		text[at] = letters[below(sizeof(letters) - 1)];
		break;
	default:
		memmove(text + 2 * at, text + at, len - at + 1);
		memcpy(text + at, text, at);
	}
}

/*
 * Texts that are nearly right, now and then without memory. Whatever is taken has jumps that go forward only, so that
 * it ends, and can be run on a record; what is refused has an error and a column within the text; nothing leaks.
 */
static void test_mutations_do_no_harm(void **state)
{
	static char text[1 << 20];
	unsigned taken = 0, refused = 0;
	struct filter_problem problem;
	struct record r;

	for (int round = 0; round < ROUNDS(100000); round++) {
		struct event_filter *filter;

		nr_nodes = 0;
		print_tree(text, random_tree(below(4)), 0);
		for (int i = below(4); i >= 0; i--)
			mutate(text);
		allocations_left = below(20) ? -1 : below(3);
		filter = parse_exact(text, &problem);
		allocations_left = -1;
		if (IS_ERR(filter)) {
			assert_in_range(problem.error, FILT_ERR_NONE, FILT_ERR_NO_FILTER);
			assert_in_range(problem.column, 0, strlen(text) + 1);
			refused++;
			continue;
		}
		/* Forward only, so it ends. */
		for (unsigned i = 0; i < filter->nr; i++)
			for (unsigned j = 0; j < 2; j++)
				assert_in_range(filter->preds[i].next[j], i + 1, filter->nr + 1);
		random_record(&r);
		filter_match(filter, &r);
		filter_free(filter);
		taken++;
	}
	assert_true(taken > 5000 && refused > 20000);
	assert_int_equal(allocated, 0);
}

/* As long and as deep as a write can be. */
static void test_long_and_deep(void **state)
{
	static char text[FILTER_TEXT_MAX];
	struct filter_problem problem;
	struct event_filter *filter;
	struct record r = {.s1 = 1};
	size_t n = 0;

	while (n + 8 < sizeof(text))
		n += sprintf(text + n, "%s", n ? "||s1==1" : "s1==0");
	filter = parse_exact(text, &problem);
	assert_false(IS_ERR(filter));
	assert_true(filter_match(filter, &r));
	filter_free(filter);
	memset(text, '(', 2000);
	strcpy(text + 2000, "s1==1");
	memset(text + 2005, ')', 2000);
	text[4005] = '\0';
	filter = parse_exact(text, &problem);
	assert_false(IS_ERR(filter));
	assert_true(filter_match(filter, &r));
	filter_free(filter);
	text[4004] = '\0';
	assert_int_equal(PTR_ERR(parse_exact(text, &problem)), -ENOENT);
	assert_int_equal(problem.column, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_and_deep),
		cmocka_unit_test(test_expressions_against_their_trees),
		cmocka_unit_test(test_mutations_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
