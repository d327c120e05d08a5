/*
 * The parser of bootconfig: what it makes of texts, where it finds errors, what stands at the end of a file; and that
 * no text, however broken, leads it beyond the text or the nodes that it was given (under ASan).
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include "../../../kernel/bootconfig/parser.c"

/* A tree in memory of exactly the sizes that the contract asks for, so that a step too far is seen. */
struct tree {
	struct bootconfig bc;
	char *text;
	struct bootconfig_node *nodes;
};

static int make_tree(struct tree *t, const char *text, size_t length)
{
	unsigned places = bootconfig_nodes_for(length);

	t->text = malloc(length + 1);
	t->nodes = malloc(places * sizeof(*t->nodes));
	memcpy(t->text, text, length);
	t->text[length] = '\0';
	return bootconfig_parse(&t->bc, t->text, t->nodes, places);
}

static void free_tree(struct tree *t)
{
	free(t->text);
	free(t->nodes);
}

/* All keys as /proc/bootconfig shows them, with ; for the ends of lines. */
static void list(const struct bootconfig *bc, char *to)
{
	char name[BOOTCONFIG_KEY_MAX];
	unsigned v;

	*to = '\0';
	for (unsigned key = 0; (key = bootconfig_next_leaf(bc, 0, key));) {
		bootconfig_name(bc, 0, key, name);
		to += sprintf(to, "%s=", name);
		bootconfig_for_each_value(bc, key, v)
			to += sprintf(to, "[%s]", bootconfig_text(bc, v));
		to += sprintf(to, ";");
	}
}

static void gives(const char *text, const char *wanted)
{
	static char found[65536];
	struct tree t;

	if (make_tree(&t, text, strlen(text)))
		fail_msg("'%s': %s at %u", text, t.bc.wrong, t.bc.at);
	list(&t.bc, found);
	assert_string_equal(found, wanted);
	free_tree(&t);
}

static void is_wrong(const char *text, const char *wanted, unsigned line, unsigned column)
{
	unsigned l, c;
	struct tree t;

	assert_int_equal(make_tree(&t, text, strlen(text)), -EINVAL);
	assert_string_equal(t.bc.wrong, wanted);
	bootconfig_place(text, t.bc.at, &l, &c);
	assert_int_equal(l, line);
	assert_int_equal(c, column);
	assert_int_equal(bootconfig_find(&t.bc, 0, "a"), 0);
	assert_int_equal(bootconfig_next_leaf(&t.bc, 0, 0), 0);
	free_tree(&t);
}

static void test_keys_and_values(void **state)
{
	gives("a", "a=;");
	gives("a;b\nc = 1", "a=;b=;c=[1];");
	gives("a.b.c = v w ; a.b.d=2", "a.b.c=[v w];a.b.d=[2];");
	gives("a.b { c = v; d = 2 }", "a.b.c=[v];a.b.d=[2];");
	gives("a {\n b { c }\n}\na.b.d", "a.b.c=;a.b.d=;");
	gives("a = 1, \"2, 3\" ,'x\"y'#c\nb", "a=[1][2, 3][x\"y];b=;");
	gives("# one\n a = # two\n # three\n 1, # four\n 2 # five\nb = \"\"", "a=[1][2];b=[];");
	gives("a = 1; a += 2, 3; b += 4", "a=[1][2][3];b=[4];");
	gives("a = 1, 2; a := 3; b := 4, 5", "a=[3];b=[4][5];");
	gives("a.b = 1; a = 2; a.c = 3; a += 4; a := 5, 6", "a=[5][6];a.b=[1];a.c=[3];");
	gives("a = ;b { c = }\nd = ,", "a=[];b.c=[];d=[][];");
}

/* Each word of these is where an editor has to put its cursor. */
static void test_errors_have_a_place(void **state)
{
	is_wrong("", "Empty config", 1, 1);
	is_wrong("# nothing\n", "Empty config", 1, 1);
	is_wrong("a {\n  .b = 1 }", "Invalid keyword", 2, 3);
	is_wrong("a b = 1", "Invalid keyword", 1, 3);
	is_wrong("a. = 1", "Invalid keyword", 1, 3);
	is_wrong("a\n{ b }", "Invalid keyword", 2, 1);
	is_wrong("a/b = 1", "Invalid keyword", 1, 2);
	is_wrong("a = 1\n  a = 2", "Value is redefined", 2, 5);
	is_wrong("a +1", "Wrong '+' operator", 1, 3);
	is_wrong("a :1", "Wrong ':' operator", 1, 3);
	is_wrong("a = 'b\nc", "No closing quotes", 1, 5);
	is_wrong("a = 'b' c", "No value delimiter", 1, 9);
	is_wrong("a = \n b\1c", "Non printable value", 2, 3);
	is_wrong("a = '\1'", "Non printable value", 1, 6);
	is_wrong("a { b {\n c }", "Brace is not closed", 1, 3);
	is_wrong("a\n }", "Unexpected closing brace", 2, 2);
	is_wrong("a { b = 1 } }", "Unexpected closing brace", 1, 13);
}

/* n times `piece`, then `end`. */
static char *repeat(const char *piece, unsigned n, const char *end)
{
	char *text = malloc(strlen(piece) * n + strlen(end) + 1), *at = text;

	while (n--)
		at += sprintf(at, "%s", piece);
	strcpy(at, end);
	return text;
}

static void wrong_text(char *text, const char *wanted)
{
	struct tree t;

	if (!make_tree(&t, text, strlen(text)))
		assert_null(wanted);
	else if (!wanted || strcmp(t.bc.wrong, wanted))
		fail_msg("%s", t.bc.wrong);
	free_tree(&t);
	free(text);
}

/* On either side of each limit. */
static void test_limits(void **state)
{
	wrong_text(repeat("a.", 15, "a"), NULL);
	wrong_text(repeat("a.", 16, "a"), "Too many key words");
	wrong_text(repeat("a {", 15, "b }}}}}}}}}}}}}}}"), NULL);
	wrong_text(repeat("a {", 16, "b }}}}}}}}}}}}}}}}"), "Too many key words");
	wrong_text(repeat("b", 255, ""), NULL);
	wrong_text(repeat("b", 256, ""), "Too long key length");
	wrong_text(repeat("b", 127, "."), "Invalid keyword");
	wrong_text(repeat("a+=b\n", 6553, ""), NULL);
	wrong_text(repeat("a:=\n", 8190, "#"), NULL);
	wrong_text(repeat("a:=\n", 8191, ""), NULL);
	wrong_text(repeat(",", 8190, ""), "Invalid keyword");
	wrong_text(repeat("#", 32764, "\na"), NULL);
	wrong_text(repeat("#", 32765, "\na"), "Config data is too big");
	wrong_text(repeat("}", 3, ""), "Unexpected closing brace");
}

static void test_number_of_nodes(void **state)
{
	char *text = repeat(",", 8190, ""), whole[8300];

	sprintf(whole, "a=%s", text);
	wrong_text(strdup(whole), NULL); /* the root, a, and 8191 values */
	strcat(whole, ",");
	wrong_text(strdup(whole), "Too many nodes");
	free(text);
}

/* Finding, walking, naming, and the words of a command line with every size of buffer that differs. */
static void test_the_tree(void **state)
{
	const char *text = "kernel { ftrace = function; quiet; x = 'a b', c }\na.b.c = 1; a.b = 2; a.bc = 3";
	char words[64], name[BOOTCONFIG_KEY_MAX];
	struct tree t;
	unsigned kernel, key;

	assert_int_equal(make_tree(&t, text, strlen(text)), 0);
	kernel = bootconfig_find(&t.bc, 0, "kernel");
	assert_int_equal(bootconfig_words(&t.bc, kernel, words, sizeof(words)), 34);
	assert_string_equal(words, "ftrace=function quiet x=\"a b\" x=c ");
	assert_int_equal(bootconfig_words(&t.bc, kernel, NULL, 0), 34);
	assert_int_equal(bootconfig_words(&t.bc, kernel, words, 8), 34);
	assert_string_equal(words, "ftrace=");
	assert_int_equal(bootconfig_find(&t.bc, 0, "kern"), 0);
	assert_int_equal(bootconfig_find(&t.bc, 0, "kernel.qui"), 0);
	assert_int_equal(bootconfig_find(&t.bc, 0, "kernel.quiet.x"), 0);
	key = bootconfig_find(&t.bc, 0, "a.b");
	assert_string_equal(bootconfig_text(&t.bc, bootconfig_first_value(&t.bc, key)), "2");
	assert_string_equal(bootconfig_text(&t.bc, bootconfig_first_key(&t.bc, key)), "c");
	assert_int_equal(bootconfig_next_leaf(&t.bc, key, key), bootconfig_find(&t.bc, key, "c"));
	assert_int_equal(bootconfig_next_leaf(&t.bc, key, bootconfig_find(&t.bc, key, "c")), 0);
	bootconfig_name(&t.bc, bootconfig_find(&t.bc, 0, "a"), bootconfig_find(&t.bc, key, "c"), name);
	assert_string_equal(name, "b.c");
	assert_int_equal(bootconfig_quote("x\"y"), '\'');
	assert_int_equal(bootconfig_quote("x'y"), '"');
	free_tree(&t);
}

/* A file of `own` bytes of x with a bootconfig of this text behind it, and `more` zeros. *n: its size. */
static char *make_file(size_t own, const char *text, unsigned more, size_t *n)
{
	size_t size = ALIGN(own + strlen(text) + 1, (size_t)BOOTCONFIG_ALIGN) - own;
	char *file;
	u32 numbers[2];

	*n = own + size + sizeof(struct bootconfig_footer) + more;
	file = calloc(1, *n);
	memset(file, 'x', own);
	strcpy(file + own, text);
	numbers[0] = size;
	numbers[1] = bootconfig_checksum(file + own, size);
	memcpy(file + own + size, numbers, sizeof(numbers));
	memcpy(file + own + size + sizeof(numbers), BOOTCONFIG_MAGIC, strlen(BOOTCONFIG_MAGIC));
	return file;
}

/* With all alignments, and with as many bytes behind it as GRUB may add, and more. */
static void test_at_the_end_of_a_file(void **state)
{
	const char *wrong;
	size_t n, bytes;
	char *file;

	for (unsigned more = 0; more < 6; more++) {
		for (size_t own = 0; own < 9; own++) {
			file = make_file(own, "a = 1", more, &n);
			if (more < BOOTCONFIG_ALIGN) {
				assert_ptr_equal(bootconfig_at_end(file, file + n, &bytes, &wrong), file + own);
				assert_int_equal(bytes, n - own);
			} else {
				assert_null(bootconfig_at_end(file, file + n, &bytes, &wrong));
				assert_int_equal(bytes, 0);
			}
			assert_null(wrong);
			free(file);
		}
	}
	/* A part of a file: all that can be asked about is cut off somewhere. */
	file = make_file(8, "a = 1", 0, &n);
	for (size_t from = 9; from <= n; from++) {
		char *part = malloc(n - from + 1);

		memcpy(part, file + from, n - from);
		assert_null(bootconfig_at_end(part, part + n - from, &bytes, &wrong));
		free(part);
	}
	free(file);
}

/* Every bit of a bootconfig that changes is noticed, unless what changes is not looked at. */
static void test_damage(void **state)
{
	const char *wrong;
	size_t n, bytes;
	char *file = make_file(8, "a = 1", 0, &n);

	for (size_t bit = 8 * 8; bit < 8 * n; bit++) {
		file[bit / 8] ^= 1 << bit % 8;
		assert_null(bootconfig_at_end(file, file + n, &bytes, &wrong));
		assert_int_equal(bytes, 0);
		assert_int_equal(!wrong, bit / 8 >= n - strlen(BOOTCONFIG_MAGIC)); /* without the magic it is none */
		file[bit / 8] ^= 1 << bit % 8;
	}
	assert_non_null(bootconfig_at_end(file, file + n, &bytes, &wrong));
	free(file);
	/* The sum is right, and no zero ends the text: what follows it would be read. */
	file = make_file(8, "a = 123", 0, &n);
	file[15] = '4';
	file[8 + 8 + sizeof(u32)] += '4'; /* the sum's lowest byte has room for it */
	assert_null(bootconfig_at_end(file, file + n, &bytes, &wrong));
	assert_string_equal(wrong, "its text has no end");
	free(file);
}

/* Random texts of pieces that mean something: taken or refused, and what is taken can be walked and written again. */
static void test_fuzz(void **state)
{
	static const char *const pieces[] = {"a",  "b",	 "kernel", ".", " ",   "=",	  "+=", ":=",  "{",
					     "}",  ";",	 "\n",	   ",", "#",   "\"",	  "'",	"1",   "x y",
					     "\t", "\1", "+",	   ":", "a.b", "a = 1\n", "-",	"\xff"};
	static char text[4096], first[262144], again[262144], words[1024];
	unsigned taken = 0;

	for (unsigned round = 0; round < 30000; round++) {
		unsigned n = host_random() % 40;
		struct tree t, second;
		char *at = text;

		*at = '\0';
		while (n--)
			at += sprintf(at, "%s", pieces[host_random() % ARRAY_SIZE(pieces)]);
		if (make_tree(&t, text, strlen(text))) {
			assert_non_null(t.bc.wrong);
			assert_true(t.bc.at <= strlen(text));
			free_tree(&t);
			continue;
		}
		taken++;
		list(&t.bc, first);
		bootconfig_words(&t.bc, 0, words, host_random() % sizeof(words));
		/* Written out with quotes, it gives the same tree; but for values with both kinds of quotes. */
		at = text;
		for (unsigned key = 0; (key = bootconfig_next_leaf(&t.bc, 0, key)) && at;) {
			char name[BOOTCONFIG_KEY_MAX];
			unsigned v;

			bootconfig_name(&t.bc, 0, key, name);
			at += sprintf(at, "%s%s", name, bootconfig_first_value(&t.bc, key) ? " = " : "");
			bootconfig_for_each_value(&t.bc, key, v) {
				const char *value = bootconfig_text(&t.bc, v);
				char quote = bootconfig_quote(value);

				if (strchr(value, quote)) {
					at = NULL;
					break;
				}
				at += sprintf(at, "%c%s%c%s", quote, value, quote,
					      bootconfig_next_value(&t.bc, v) ? ", " : "");
			}
			if (at)
				at += sprintf(at, "\n");
		}
		if (at) {
			assert_int_equal(make_tree(&second, text, strlen(text)), 0);
			list(&second.bc, again);
			assert_string_equal(again, first);
			free_tree(&second);
		}
		free_tree(&t);
	}
	assert_true(taken > 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_and_values), cmocka_unit_test(test_errors_have_a_place),
		cmocka_unit_test(test_limits),		cmocka_unit_test(test_number_of_nodes),
		cmocka_unit_test(test_the_tree),	cmocka_unit_test(test_at_the_end_of_a_file),
		cmocka_unit_test(test_damage),		cmocka_unit_test(test_fuzz),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
