/*
 * Print formats of events: a format as printf's, and expressions of C over the record's fields.
 *
 *     print fmt: "comm=%s pid=%d flags=%s", REC->comm, REC->pid, __print_flags(REC->flags, "|", { 1, "A" }, { 2, "B" })
 *
 * The expressions are evaluated from their text for each record, by recursive descent; there is no
 * tree. A file may come from another kernel, so what is not understood shows as "[?]", and the rest
 * of that record's text stays away. Texts that an evaluation makes are freed when the record is
 * done (forget_texts).
 */
#include <vt_report.h>
#include <ctype.h>

/*
 * An evaluation: where it is in the text, and whether all was understood so far. `bad` ends nothing:
 * all functions go on and return anything, and the caller at the top looks once.
 */
struct eval {
	const struct vt_record *r;
	const char *at;
	bool bad;
};

static struct vt_value expression(struct eval *e, int level);

/* Step over blanks. */
static void blanks(struct eval *e)
{
	e->at += strspn(e->at, " \t\n");
}

/* Step over the token if it stands here. */
static bool eat(struct eval *e, const char *token)
{
	blanks(e);
	if (strncmp(e->at, token, strlen(token)))
		return false;
	e->at += strlen(token);
	return true;
}

/* The token must stand here; if it does not, the evaluation is not understood. */
static void want(struct eval *e, const char *token)
{
	if (!eat(e, token))
		e->bad = true;
}

/* The length of a name at s: letters, digits and underscores. */
static size_t word_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

/* A word into `word`. */
static bool take_word(struct eval *e, char *word, size_t room)
{
	size_t n;

	blanks(e);
	n = word_length(e->at);
	if (!n || n >= room) {
		e->bad = true;
		return false;
	}
	memcpy(word, e->at, n);
	word[n] = '\0';
	e->at += n;
	return true;
}

/* The strings of a record live until its text is done. */
static char **texts;
static size_t nr_texts;

/* Make the bytes a text that lives until the record is done. A table of names has a text for each of them. */
static struct vt_value keep(struct vt_bytes *b)
{
	struct vt_value v = {0};

	vt_put(b, "", 1);
	texts = vt_realloc(texts, (nr_texts + 1) * sizeof(*texts));
	v.s = texts[nr_texts++] = b->data;
	v.length = b->n - 1;
	return v;
}

static void forget_texts(void)
{
	while (nr_texts)
		free(texts[--nr_texts]);
}

/* "text" "more": escapes are taken for what they stand for. */
static struct vt_value string(struct eval *e)
{
	struct vt_bytes b = {};

	while (eat(e, "\"")) {
		while (*e->at && *e->at != '"') {
			char c = *e->at++;

			if (c == '\\' && *e->at) {
				c = *e->at++;
				c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
			}
			vt_put(&b, &c, 1);
		}
		want(e, "\"");
	}
	return keep(&b);
}

/* ---- Fields */

/* The field whose name stands here; NULL for a name that the event does not have. */
static const struct vt_field *take_field(struct eval *e)
{
	const struct vt_field *field;
	char name[64];

	if (!take_word(e, name, sizeof(name)))
		return NULL;
	field = vt_event_field(e->r->event, name);
	e->bad |= !field;
	return field;
}

/* A field's bytes as a text, up to its zero. The bytes are checked to lie within the record. */
static struct vt_value text_of(struct eval *e, const struct vt_field *field)
{
	unsigned n = 0;
	const unsigned char *bytes = field ? vt_field_bytes(field, e->r->data, e->r->size, &n) : NULL;
	struct vt_bytes b = {};

	if (bytes)
		vt_put(&b, bytes, strnlen((const char *)bytes, n));
	return keep(&b);
}

/* REC->name, REC->name[index]; an array of char is its text. */
static struct vt_value field_value(struct eval *e)
{
	const struct vt_field *field = take_field(e);
	struct vt_value v = {0};

	if (!field)
		return v;
	if (eat(e, "[")) {
		unsigned long long index = expression(e, 0).n;
		unsigned n = 0, size = field->element ?: 1;
		const unsigned char *bytes = vt_field_bytes(field, e->r->data, e->r->size, &n);

		want(e, "]");
		if (bytes && index < n / size)
			v.n = vt_take_number(bytes + index * size, size);
		return v;
	}
	if (field->is_text || (field->is_array && !field->element))
		return text_of(e, field);
	v.n = (unsigned long long)vt_record_number(e->r->event, field->name, e->r->data, e->r->size);
	return v;
}

/* ---- __print_flags() and its relatives, behind their opening bracket */

/* One "{ number, "text" }" of a table. */
static bool take_pair(struct eval *e, unsigned long long *n, struct vt_value *text)
{
	if (!eat(e, ",") || !eat(e, "{"))
		return false;
	*n = expression(e, 0).n;
	want(e, ",");
	*text = string(e);
	want(e, "}");
	return !e->bad;
}

/*
 * __print_flags(value, separator, { bit, "name" }...): the names of all bits that are set, and what
 * is left as a number. An entry of 0 is for a value without any bit.
 */
static struct vt_value print_flags(struct eval *e)
{
	unsigned long long left = expression(e, 0).n, flag;
	struct vt_value between, text;
	struct vt_bytes b = {};
	bool none = !left, any = false;

	want(e, ",");
	between = string(e);
	while (take_pair(e, &flag, &text)) {
		if (flag ? (left & flag) != flag : !none)
			continue;
		vt_put(&b, between.s, any ? between.length : 0);
		vt_put(&b, text.s, text.length);
		any = true;
		none = false;
		left &= ~flag;
	}
	if (left) {
		vt_put(&b, between.s, any ? between.length : 0);
		vt_bytes_printf(&b, "0x%lx", (unsigned long)left);
	}
	return keep(&b);
}

/* __print_symbolic(value, { number, "name" }...): the first name of this number, else the number. */
static struct vt_value print_symbolic(struct eval *e)
{
	unsigned long long value = expression(e, 0).n, n;
	struct vt_value text, found = {0};
	struct vt_bytes b = {};

	while (take_pair(e, &n, &text))
		if (n == value && !found.s)
			found = text;
	if (found.s)
		return found;
	vt_bytes_printf(&b, "0x%lx", (unsigned long)value);
	return keep(&b);
}

/* A set of bits as the words of it, the highest first, in groups of eight digits. */
static struct vt_value bitmask(struct eval *e)
{
	const struct vt_field *field = take_field(e);
	unsigned n = 0;
	const unsigned char *bytes = field ? vt_field_bytes(field, e->r->data, e->r->size, &n) : NULL;
	struct vt_bytes b = {};

	for (unsigned i = n; bytes && i; i--)
		vt_bytes_printf(&b, "%02x%s", bytes[i - 1], i > 1 && (i - 1) % 4 == 0 ? "," : "");
	return keep(&b);
}

/* Bytes: __get_dynamic_array(name), or a field. */
static const unsigned char *take_array(struct eval *e, unsigned *n)
{
	bool dynamic = eat(e, "__get_dynamic_array") && eat(e, "(");
	const struct vt_field *field;

	if (!dynamic)
		want(e, "REC->");
	field = take_field(e);
	if (dynamic)
		want(e, ")");
	*n = 0;
	return field ? vt_field_bytes(field, e->r->data, e->r->size, n) : NULL;
}

/* __print_hex(array, length): bytes as two digits each. No more are shown than the record has. */
static struct vt_value print_hex(struct eval *e)
{
	unsigned n;
	const unsigned char *bytes = take_array(e, &n);
	unsigned long long length;
	struct vt_bytes b = {};

	want(e, ",");
	length = expression(e, 0).n;
	for (unsigned i = 0; bytes && i < n && i < length; i++)
		vt_bytes_printf(&b, "%s%02x", i ? " " : "", bytes[i]);
	return keep(&b);
}

/* __print_array(array, count, size): {0x1,0x2}. No more are shown than the record has. */
static struct vt_value print_array(struct eval *e)
{
	unsigned n;
	const unsigned char *bytes = take_array(e, &n);
	unsigned long long count, size;
	struct vt_bytes b = {};

	want(e, ",");
	count = expression(e, 0).n;
	want(e, ",");
	size = expression(e, 0).n;
	vt_put(&b, "{", 1);
	for (unsigned i = 0; bytes && size && size <= 8 && i < count && (i + 1) * size <= n; i++)
		vt_bytes_printf(&b, "%s0x%lx", i ? "," : "",
				(unsigned long)vt_take_number(bytes + i * size, (size_t)size));
	vt_put(&b, "}", 1);
	return keep(&b);
}

static struct vt_value get_str(struct eval *e)
{
	return text_of(e, take_field(e));
}

/* __get_dynamic_array_len(name): bytes. */
static struct vt_value array_length(struct eval *e)
{
	const struct vt_field *field = take_field(e);
	unsigned n = 0;

	if (field)
		vt_field_bytes(field, e->r->data, e->r->size, &n);
	return (struct vt_value){.n = n};
}

/* A function of the kernel's print formats, by its name. */
static struct vt_value call(struct eval *e)
{
	static const struct {
		const char *name;
		struct vt_value (*work)(struct eval *e);
	} calls[] = {{"__print_flags", print_flags},
		     {"__print_symbolic", print_symbolic},
		     {"__get_str", get_str},
		     {"__get_rel_str", get_str},
		     {"__get_bitmask", bitmask},
		     {"__get_cpumask", bitmask},
		     {"__print_hex", print_hex},
		     {"__print_array", print_array},
		     {"__get_dynamic_array_len", array_length}};
	struct vt_value v = {0};
	char name[64];

	if (!take_word(e, name, sizeof(name)))
		return v;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		if (strcmp(calls[i].name, name))
			continue;
		want(e, "(");
		v = calls[i].work(e);
		want(e, ")");
		return v;
	}
	e->bad = true;
	return v;
}

/* ---- Expressions */

/* Is this "(type)", a cast? Widths are printf's to say, so the type does not matter. */
static bool eat_cast(struct eval *e)
{
	const char *s = e->at + 1;

	if (!isalpha((unsigned char)*s) || !strncmp(s, "REC->", 5))
		return false;
	s += strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ *");
	if (*s != ')')
		return false;
	e->at = s + 1;
	return true;
}

/* 'c': its code. */
static unsigned long long character(struct eval *e)
{
	unsigned long long code = (unsigned char)*e->at;

	e->at += code != 0;
	want(e, "'");
	return code;
}

/* A bracket, a number, a string, a field, a sign or a call: what stands between operators. */
static struct vt_value primary(struct eval *e)
{
	struct vt_value v = {0};

	blanks(e);
	if (*e->at == '(' && eat_cast(e))
		return primary(e);
	if (eat(e, "(")) {
		v = expression(e, 0);
		want(e, ")");
	} else if (eat(e, "~")) {
		v.n = ~primary(e).n;
	} else if (eat(e, "!")) {
		v.n = !primary(e).n;
	} else if (eat(e, "-")) {
		v.n = -primary(e).n;
	} else if (*e->at == '"') {
		v = string(e);
	} else if (eat(e, "'")) {
		v.n = character(e);
	} else if (eat(e, "REC->")) {
		v = field_value(e);
	} else if (isdigit((unsigned char)*e->at)) {
		char *end;

		v.n = strtoull(e->at, &end, 0);
		e->at = end + strspn(end, "uUlL");
	} else {
		v = call(e);
	}
	return v;
}

/* In the order of how tightly they bind; of those that begin alike the longer ones first. */
static const struct {
	char token[3];
	int level;
} operators[] = {{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8}, {"<=", 7}, {">=", 7}, {"|", 3},
		 {"^", 4},  {"&", 5},  {"<", 7},  {">", 7},  {"+", 9},	{"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

/* One binary operator, on 64 bits. Shifts by 64 and more give 0, where C leaves it undefined. */
static unsigned long long calculate(const char *operator, unsigned long long a, unsigned long long b)
{
	switch (operator[0] | operator[1] << 8) {
	case '|' | '|' << 8:
		return a || b;
	case '&' | '&' << 8:
		return a && b;
	case '=' | '=' << 8:
		return a == b;
	case '!' | '=' << 8:
		return a != b;
	case '<' | '<' << 8:
		return b < 64 ? a << b : 0;
	case '>' | '>' << 8:
		return b < 64 ? a >> b : 0;
	case '<' | '=' << 8:
		return (long long)a <= (long long)b;
	case '>' | '=' << 8:
		return (long long)a >= (long long)b;
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	case '&':
		return a & b;
	case '<':
		return (long long)a < (long long)b;
	case '>':
		return (long long)a > (long long)b;
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	case '/':
		return b ? a / b : 0;
	}
	return b ? a % b : 0;
}

/*
 * Precedence climbing: take one operand, then as long as an operator binds at least as tightly as
 * `level`, take its right side with level + 1. That leaves operators of the same level to this loop
 * and so makes them bind to the left. ?: binds least, at level 0; evaluating both its sides is
 * harmless.
 *
 *     1 - 2 - 3:   v = 1; "-": right side at level 10 is 2, v = -1; "-": right side is 3, v = -4
 */
static struct vt_value expression(struct eval *e, int level)
{
	struct vt_value v = primary(e);

	while (!e->bad) {
		size_t i;

		blanks(e);
		if (level == 0 && eat(e, "?")) {
			struct vt_value yes = expression(e, 0), no;

			want(e, ":");
			no = expression(e, 0);
			return v.n || v.s ? yes : no;
		}
		for (i = 0; i < ARRAY_SIZE(operators); i++)
			if (!strncmp(e->at, operators[i].token, strlen(operators[i].token)))
				break;
		if (i == ARRAY_SIZE(operators) || operators[i].level < level || !operators[i].level)
			return v;
		e->at += strlen(operators[i].token);
		v = (struct vt_value){.n = calculate(operators[i].token, v.n, expression(e, operators[i].level + 1).n)};
	}
	return v;
}

/* ---- printf */

/* %p, %ps, %pS and the like: behind the p. */
static void put_pointer(struct vt_bytes *out, const struct vt_dat_file *f, char kind, unsigned long address)
{
	const struct vt_symbol *symbol = kind ? vt_find_symbol(f, address) : NULL;

	if (!kind && !address)
		vt_put(out, "(nil)", 5);
	else if (!symbol)
		vt_bytes_printf(out, "0x%lx", address);
	else if (kind == 's' || kind == 'f')
		vt_bytes_printf(out, "%s", symbol->name);
	else
		vt_bytes_printf(out, "%s+0x%lx", symbol->name, (unsigned long)(address - symbol->address));
}

/* A pointer to one of the kernel's own texts, which printk_formats lists in quotes, stands for it,
 * another pointer for its number. */
static void put_string(struct vt_bytes *out, const struct vt_dat_file *f, const char *spec,
		       const struct vt_value *value)
{
	const char *quoted = value->s ? NULL : vt_find_name(f->formats, f->nr_formats, value->n);
	char number[20] = "(null)", *text;

	if (value->n)
		sprintf(number, "%lx", (unsigned long)value->n);
	text = vt_strdup(value->s ? value->s : quoted ? quoted + 1 : number);
	if (quoted && *text)
		text[strlen(text) - 1] = '\0';
	vt_bytes_printf(out, spec, text);
	free(text);
}

/* As much of the number as the conversion's length says, with its sign. */
static unsigned long narrowed(unsigned long long n, int bytes, bool is_signed)
{
	unsigned shift = 64 - 8 * (unsigned)bytes;

	return is_signed ? (unsigned long)((long long)(n << shift) >> shift) : (unsigned long)(n << shift >> shift);
}

/* One conversion from its % on: C's for numbers, the kernel's for %p, else [?]. Returns what follows it. */
const char *vt_print_one(struct vt_bytes *out, const struct vt_dat_file *f, const char *format,
			 const struct vt_value *value)
{
	char spec[32] = "%";
	size_t n = strspn(format + 1, "-+ #0123456789.");
	int bytes = 4;

	if (n > sizeof(spec) - 4)
		n = 0;
	memcpy(spec + 1, format + 1, n);
	format += 1 + n;
	for (; *format && strchr("hlLzq", *format); format++)
		bytes = *format == 'h' ? bytes / 2 : 8;
	switch (*format) {
	case 'p':
		format++;
		n = strspn(format, "sSfFB");
		put_pointer(out, f, n ? *format : '\0', (unsigned long)value->n);
		return format + n;
	case 's':
		strcpy(spec + 1 + n, "s");
		put_string(out, f, spec, value);
		return format + 1;
	case 'c':
		strcpy(spec + 1 + n, "c");
		vt_bytes_printf(out, spec, (int)value->n);
		return format + 1;
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o':
		spec[1 + n] = 'l';
		spec[2 + n] = *format;
		spec[3 + n] = '\0';
		vt_bytes_printf(out, spec, narrowed(value->n, bytes, *format == 'd' || *format == 'i'));
		return format + 1;
	}
	vt_put(out, "[?]", 3);
	return *format ? format + 1 : format;
}

/* A record by its event's print format: an expression over fields for each conversion. [?] stands for a bad one. */
void vt_print_format(struct vt_bytes *out, const struct vt_record *r)
{
	struct eval e = {.r = r, .at = r->event->print};
	const char *format = string(&e).s;

	while (*format && !e.bad) {
		size_t n = strcspn(format, "%");
		struct vt_value value;

		vt_put(out, format, n);
		format += n;
		if (!*format)
			break;
		if (format[1] == '%') {
			vt_put(out, "%", 1);
			format += 2;
			continue;
		}
		want(&e, ",");
		value = e.bad ? (struct vt_value){0} : expression(&e, 0);
		if (!e.bad)
			format = vt_print_one(out, r->file, format, &value);
	}
	if (e.bad)
		vt_put(out, "[?]", 3);
	forget_texts();
}
