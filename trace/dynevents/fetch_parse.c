/*
 * Fetch arguments: from words to programs (fetch.h). Which words there are, and what is wrong with the others, is as in
 * Linux, and so are the columns to which the caret points: dyn_refuse() gets the place in the word.
 *
 * A word is parsed in the command's own copy, where pieces are cut off by zeros: "name", "=", "body", ":", "type",
 * "[count]". The body is parsed from outside to inside, since the innermost brackets have the source, and the steps are
 * put down on the way back.
 */
#include <arch/regs.h>
#include <kernel/ksyms.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/task.h>

#include "command.h"
#include "fetch.h"

/* One word. `fields`: of a record that the program reads, the event's own and those that all have. */
struct fetch_parser {
	struct dyn_command *c;
	struct fetch_args *args;
	struct fetch_arg *arg;
	unsigned flags;
	const struct trace_event_field *const *fields;
	unsigned ops;	     /* of the program so far: Linux's limit is on their number */
	const char *instead; /* where all carets point, while the text is not the command's; else NULL */
};

static int refuse(struct fetch_parser *p, const char *at, const char *what)
{
	return dyn_refuse(p->c, p->instead ?: at, what);
}

/* ---- Sources */

/* A register argument of the probed function, which a probe of the return keeps from the entry on. */
static int parse_argument(struct fetch_parser *p, char *text, const char *number)
{
	unsigned long n;

	if (kstrtoul(number, 10, &n))
		return refuse(p, text, "Invalid $-valiable specified");
	if (!n || n > THREAD_SIZE / sizeof(long))
		return refuse(p, text, "Invalid argument number");
	n--;
	if (p->flags & FETCH_ENTRY) {
		p->arg->op = FETCH_ARG;
		p->arg->param = n;
		return 0;
	}
	if (p->flags & FETCH_TPOINT) {
		p->arg->op = FETCH_ENTRY_ARG;
		p->arg->param = n;
		return n < TPOINT_ARGS ? 0 : refuse(p, text, "Invalid argument number");
	}
	if (!(p->flags & FETCH_RETURN))
		return refuse(p, text, "$arg* can be used only on function entry or exit");
	p->arg->op = FETCH_ENTRY_ARG;
	for (p->arg->param = 0; p->arg->param < p->args->nr_entry; p->arg->param++)
		if (p->args->entry[p->arg->param] == n)
			return 0;
	if (p->args->nr_entry == ARRAY_SIZE(p->args->entry))
		return refuse(p, text, "Invalid argument number");
	p->args->entry[p->args->nr_entry++] = n;
	return 0;
}

/* "$stack" is the pointer itself, and "$stackN" the N-th word above it. */
static int parse_stack(struct fetch_parser *p, char *text, const char *number)
{
	unsigned long n;

	if (!*number) {
		p->arg->op = FETCH_STACKP;
		return 0;
	}
	if (!isdigit(*number) || kstrtoul(number, 10, &n))
		return refuse(p, text, "Invalid $-valiable specified");
	if ((p->flags & FETCH_KERNEL) && n > THREAD_SIZE / sizeof(long))
		return refuse(p, text, "Invalid stack number");
	p->arg->op = FETCH_STACK;
	p->arg->param = n;
	return 0;
}

/* A field of the other event's record, by its name. */
static int parse_field(struct fetch_parser *p, char *text)
{
	for (unsigned i = 0; i < 2; i++)
		for (const struct trace_event_field *f = p->fields[i]; f && f->name; f++)
			if (!strcmp(f->name, text + 1)) {
				p->arg->op = FETCH_FIELD;
				p->arg->field = f;
				return 0;
			}
	return refuse(p, text, "Attached event does not have this field");
}

static bool is_comm(const char *text)
{
	return !strcmp(text, "$comm") || !strcmp(text, "$COMM");
}

/*
 * A field of another event comes before what has the same name, such as its own `comm`; $comm without one is the
 * task's.
 */
static int parse_variable(struct fetch_parser *p, char *text)
{
	if (p->flags & FETCH_OF_EVENT) {
		for (const struct trace_event_field *f = p->fields[0]; f && f->name; f++)
			if (!strcmp(f->name, text + 1))
				return parse_field(p, text);
		if (!is_comm(text))
			return parse_field(p, text);
	}
	if (!strcmp(text, "$retval")) {
		if (!(p->flags & FETCH_RETURN))
			return refuse(p, text, "$retval is not available on probe");
		p->arg->op = FETCH_RETVAL;
		return 0;
	}
	if (is_comm(text)) {
		p->arg->op = FETCH_COMM;
		return 0;
	}
	if (!strncmp(text, "$stack", 6))
		return parse_stack(p, text, text + 6);
	if (!strcmp(text, "$arg*"))
		return refuse(p, text, "BTF is not available or not supported");
	if (!strncmp(text, "$arg", 4))
		return parse_argument(p, text, text + 4);
	return refuse(p, text, "Invalid $-valiable specified");
}

/* A step more: Linux's program would have another op. */
static int add_step(struct fetch_parser *p, const char *at, long offset, bool user)
{
	if (++p->ops == FETCH_STEPS_MAX)
		return refuse(p, at, "Dereference is too much nested");
	p->arg->steps[p->arg->nr_steps++] = (struct fetch_step){.offset = offset, .user = user};
	return 0;
}

/* The address of "SYM", "SYM+offs" or "SYM-offs". 0 or -ENOENT. */
static int find_symbol(const char *text, u64 *addr)
{
	char name[KSYM_NAME_LEN + KSYM_MODULE_LEN];
	size_t len = strcspn(text, "+-");
	long offset = 0;

	if (!len || len >= sizeof(name) || (text[len] && kstrtol(text + len + (text[len] == '+'), 0, &offset)))
		return -ENOENT;
	memcpy(name, text, len);
	name[len] = '\0';
	*addr = kallsyms_lookup_name(name);
	if (!*addr)
		return -ENOENT;
	*addr += offset;
	return 0;
}

/* "@ADDR", "@SYM[+|-offs]", "@+OFFS": what stands in memory there. */
static int parse_memory(struct fetch_parser *p, char *text)
{
	int err;

	p->arg->op = FETCH_IMM;
	if (isdigit(text[1])) {
		if (kstrtoull(text + 1, 0, &p->arg->imm))
			return refuse(p, text, "Invalid memory address");
	} else if (text[1] == '+') {
		if (!(p->flags & FETCH_USER))
			return refuse(p, text, "File offset is not available with kprobe");
		p->arg->op = FETCH_FILE;
		if (kstrtoull(text + 2, 0, &p->arg->imm))
			return refuse(p, text, "Invalid file offset value");
	} else {
		if (p->flags & FETCH_USER)
			return refuse(p, text, "Symbol is not available with uprobe");
		p->arg->symbol = kstrdup(text + 1, GFP_KERNEL);
		if (!p->arg->symbol)
			return -ENOMEM;
		err = find_symbol(p->arg->symbol, &p->arg->imm);
		if (err) {
			refuse(p, text, "There is no such symbol");
			return err;
		}
	}
	return add_step(p, text, 0, false);
}

/* A constant: \NUMBER, or \"TEXT". */
static int parse_constant(struct fetch_parser *p, char *text)
{
	size_t len;
	long value;

	if (text[1] != '"') {
		if (!isdigit(text[1]) && text[1] != '-' && text[1] != '+')
			return refuse(p, text + 1, "Invalid immediate value");
		p->arg->op = FETCH_IMM;
		if (text[1] == '-') {
			if (kstrtol(text + 1, 0, &value))
				return refuse(p, text + 1, "Invalid immediate value");
			p->arg->imm = value;
		} else if (kstrtoull(text + 1 + (text[1] == '+'), 0, &p->arg->imm)) {
			return refuse(p, text + 1, "Invalid immediate value");
		}
		return 0;
	}
	len = strlen(text + 2);
	if (!len || text[len + 1] != '"')
		return refuse(p, text + 2 + len, "String is not closed with '\"'");
	p->arg->op = FETCH_TEXT;
	p->arg->text = kstrndup(text + 2, len - 1, GFP_KERNEL);
	return p->arg->text ? 0 : -ENOMEM;
}

static int parse_register(struct fetch_parser *p, char *text)
{
	int offset;

	if (p->flags & FETCH_NO_REGS)
		return refuse(p, text, "Invalid $-valiable specified");
	offset = regs_query_register_offset(text + 1);
	if (offset < 0)
		return refuse(p, text, "Invalid register name");
	p->arg->op = FETCH_REG;
	p->arg->param = offset;
	return 0;
}

/* The first character says which source it is. Names of arguments alone would need types of functions (BTF). */
static int parse_source(struct fetch_parser *p, char *text)
{
	switch (*text) {
	case '$':
		return parse_variable(p, text);
	case '%':
		return parse_register(p, text);
	case '@':
		return parse_memory(p, text);
	case '\\':
		return parse_constant(p, text);
	}
	if (isalpha(*text) || *text == '_')
		return refuse(p, text, "BTF is not available or not supported");
	return refuse(p, text, "Invalid fetch argument");
}

/* ---- "+8(-16(SOURCE))" */

/* Returns the text behind the brace after a step's offset. NULL: the step is wrong, and the error was reported. */
static char *parse_offset(struct fetch_parser *p, char *text, long *offset, bool *user)
{
	char *number = text, *open;

	*user = text[1] == 'u';
	if (*user) {
		number[1] = number[0];
		number++;
	}
	if (*number == '+')
		number++;
	open = strchr(number, '(');
	if (!open) {
		refuse(p, text, "Dereference needs a brace");
		return NULL;
	}
	*open = '\0';
	if (kstrtol(number, 0, offset)) {
		refuse(p, text, "Invalid dereference offset");
		return NULL;
	}
	return open + 1;
}

/*
 * Go in, and come out again: the outermost step is the last one of the program. The stack of places is bounded, since a
 * word has at most FETCH_TEXT_MAX characters and a step takes three.
 */
static int parse_body(struct fetch_parser *p, char *text)
{
	struct {
		char *inside;
		long offset;
		bool user;
	} steps[FETCH_TEXT_MAX / 3 + 1];
	unsigned n = 0;
	int err;

	while (*text == '+' || *text == '-') {
		char *close, *inside = parse_offset(p, text, &steps[n].offset, &steps[n].user);

		if (!inside)
			return -EINVAL;
		text = steps[n].inside = inside;
		close = strrchr(text, ')');
		if (!close)
			return refuse(p, text + strlen(text), "Dereference brace is not closed");
		if (close[1])
			return refuse(p, close + 1, "Invalid fetch argument");
		*close = '\0';
		n++;
	}
	err = parse_source(p, text);
	if (!err && n && (p->arg->op == FETCH_COMM || p->arg->op == FETCH_TEXT))
		return refuse(p, text, "$comm can not be dereferenced");
	while (!err && n--)
		err = add_step(p, steps[n].inside, steps[n].offset, steps[n].user);
	return err;
}

/* ---- Types */

/* "[COUNT]" behind a type. */
static int parse_count(struct fetch_parser *p, char *open)
{
	char *close = strchr(open, ']');
	unsigned count;

	if (!close)
		return refuse(p, open + strlen(open), "Array is not closed");
	if (close[1])
		return refuse(p, close + 1, "Array has wrong suffix");
	*close = '\0';
	if (kstrtouint(open, 0, &count) || !count)
		return refuse(p, open, "Invalid array size");
	if (count > FETCH_ARRAY_MAX)
		return refuse(p, open, "Array number is too big");
	p->arg->count = count;
	return 0;
}

/* The type of "b<width>@<offset>/<size>" is the number that has the bits. NULL: unknown. */
static const struct fetch_type *find_type(const char *name)
{
	char base[8] = "u";

	if (!name)
		return fetch_type_default();
	if (*name != 'b')
		return fetch_type_find(name);
	name = strchr(name, '/');
	if (!name || strlen(name + 1) > 2)
		return NULL;
	strscpy(base + 1, name + 1, sizeof(base) - 1);
	return fetch_type_find(base);
}

/* `body` is looked at because the name of a task and a constant text are strings, whatever else the word says. */
static int parse_type(struct fetch_parser *p, const char *body, char *type)
{
	char *open = type ? strchr(type, '[') : NULL;
	int err;

	if (open) {
		*open = '\0';
		err = parse_count(p, open + 1);
		if (err)
			return err;
	}
	if (is_comm(body) || !strncmp(body, "\\\"", 2)) {
		if (p->arg->count || (type && strcmp(type, "string")))
			return refuse(p, type ?: body, "$comm and immediate-string only accepts string type");
		p->arg->type = fetch_type_find("string");
	} else {
		p->arg->type = find_type(type);
		/* Symbols are the kernel's: an address of the program has none. */
		if ((p->flags & FETCH_USER) && type && !strncmp(type, "sym", 3))
			p->arg->type = NULL;
	}
	return p->arg->type ? 0 : refuse(p, type ?: body, "Unknown type is specified");
}

/* "b<width>@<offset>/<size>": false: it is wrong. */
static bool parse_bits(struct fetch_arg *arg, const char *type)
{
	unsigned bits = arg->type->size * 8;
	char *end;
	u64 width = simple_strtoull(type + 1, &end, 0), from;

	if (!width || *end != '@')
		return false;
	type = end + 1;
	from = simple_strtoull(type, &end, 0);
	if (end == type || *end != '/' || width > bits || from > bits || width + from > bits)
		return false;
	arg->bits_left = bits - (width + from);
	arg->bits_right = bits - width;
	return true;
}

/* ---- How it is stored */

static bool is_memory(const struct fetch_arg *arg)
{
	return arg->nr_steps;
}

/* The last step becomes a part of storing: there is no need to read a word. */
static void take_last_step(struct fetch_arg *arg, enum fetch_store store)
{
	struct fetch_step *last = &arg->steps[--arg->nr_steps];

	arg->store = store;
	arg->last = last->offset;
	arg->last_user = last->user;
}

/*
 * Which of enum fetch_store fits type and body. Strings and memory take over the body's last step, so that it reads no
 * word.
 */
static int choose_store(struct fetch_parser *p, const char *body, const char *type)
{
	struct fetch_arg *arg = p->arg;

	if (arg->op == FETCH_FIELD && !is_memory(arg) && !arg->type->is_string) {
		arg->store = FETCH_RAW;
	} else if (!strcmp(arg->type->name, "symstr")) {
		if (arg->op == FETCH_COMM || arg->op == FETCH_TEXT || arg->count)
			return refuse(p, type ?: body, "Symbol string type only accepts kernel symbols");
		arg->store = FETCH_SYMSTR;
	} else if (arg->type->is_string) {
		if (!is_memory(arg) && arg->op != FETCH_COMM && arg->op != FETCH_TEXT && arg->op != FETCH_IMM &&
		    arg->op != FETCH_FIELD)
			return refuse(p, type ?: body, "String accepts only memory argument");
		arg->store = FETCH_STRING;
		if (is_memory(arg))
			take_last_step(arg, FETCH_STRING);
		arg->last_user |= arg->type->user;
		arg->pointers = arg->count;
	} else if (is_memory(arg)) {
		take_last_step(arg, FETCH_MEM);
	}
	if (arg->count && arg->store != FETCH_MEM && !(arg->store == FETCH_STRING && arg->op < FETCH_COMM))
		return refuse(p, type ?: body, "String accepts only memory argument");
	return 0;
}

/* ---- %pd and %pD: the name of a dentry, and of a file */

/*
 * "ARG:%pd" becomes the steps to the name: a text that the word's parts are taken from instead. NULL: no memory.
 */
static char *expand_names(const char *body, bool file)
{
	if (!file)
		return kasprintf(GFP_KERNEL, "+0(+%u(%s))", fetch_dentry_name, body);
	return kasprintf(GFP_KERNEL, "+0(+%u(+%u(%s)))", fetch_dentry_name, fetch_file_dentry, body);
}

/* The expanded body does not stand in the command, so an error in it is reported for the whole body. */
static int parse_expanded(struct fetch_parser *p, char *body, bool file)
{
	char *text = expand_names(body, file);
	int err;

	if (!text)
		return -ENOMEM;
	p->instead = body;
	err = parse_body(p, text);
	p->instead = NULL;
	kfree(text);
	return err;
}

/* ---- A word */

/* "body[:type]". The word is copied first, because its parts are cut from it here. */
static int parse_value(struct fetch_parser *p, char *body)
{
	struct fetch_arg *arg = p->arg;
	char *type = strchr(body, ':');
	bool dentry = type && !strcmp(type, ":%pd"), file = type && !strcmp(type, ":%pD");
	int err;

	if (!*body)
		return refuse(p, body, "No argument expression");
	if (strlen(body) > FETCH_TEXT_MAX)
		return refuse(p, body, "Argument expression is too long");
	arg->word = kstrdup(body, GFP_KERNEL);
	if (!arg->word)
		return -ENOMEM;
	if (type)
		*type++ = '\0';
	if (dentry || file) {
		arg->type = fetch_type_find("string");
		return parse_expanded(p, body, file) ?: choose_store(p, body, type);
	}
	err = parse_type(p, body, type) ?: parse_body(p, body) ?: choose_store(p, body, type);
	if (!err && type && *type == 'b' && !parse_bits(arg, type))
		return refuse(p, type, "Invalid bitfield");
	return err;
}

/* Names of fields that the record has in any case. */
static bool is_reserved(const char *name)
{
	static const char *const reserved[] = {"common_type", "common_flags", "common_preempt_count", "common_pid",
					       "common_tgid", "__probe_ip",   "__probe_ret_ip",	      "__probe_func"};

	for (unsigned i = 0; i < ARRAY_SIZE(reserved); i++)
		if (!strcmp(name, reserved[i]))
			return true;
	return false;
}

static bool name_is_used(const struct fetch_args *args, const char *name)
{
	for (unsigned i = 0; i + 1 < args->nr; i++)
		if (!strcmp(args->args[i]->name, name))
			return true;
	return is_reserved(name);
}

/* Make the name of an argument that has none: the field's name if a field is recorded as it is, else the number. */
static char *make_name(const struct fetch_parser *p, const char *word)
{
	size_t len = strcspn(word + 1, ":");

	if ((p->flags & FETCH_OF_EVENT) && *word == '$' && !is_comm(word) && len <= FETCH_NAME_MAX)
		return kstrndup(word + 1, len, GFP_KERNEL);
	return kasprintf(GFP_KERNEL, "arg%u", p->args->nr);
}

/* "[name=]body". The name is checked before the body, so an error in both is told of the name, as on Linux. */
static int parse_word(struct fetch_parser *p, char *word)
{
	char *equals = strchr(word, '=');

	if (equals && equals - word > FETCH_NAME_MAX)
		return refuse(p, word, "Argument name is too long");
	if (equals == word)
		return refuse(p, word, "Argument name is not specified");
	p->arg->name = equals ? kstrndup(word, equals - word, GFP_KERNEL) : make_name(p, word);
	if (!p->arg->name)
		return -ENOMEM;
	if (!dyn_name_is_good(p->arg->name, false))
		return refuse(p, word, "Argument name must follow the same rules as C identifiers");
	if (name_is_used(p->args, p->arg->name))
		return refuse(p, word, "This argument name is already used");
	return parse_value(p, equals ? equals + 1 : word);
}

/* An argument joins the list before it is parsed, so that fetch_free() finds what an error has left of it. */
int fetch_parse(struct fetch_args *args, struct dyn_command *c, unsigned first, unsigned flags,
		const struct trace_event_field *const fields[2])
{
	static const struct trace_event_field *const none[2];
	int err = 0;

	args->size = args->head;
	if (c->nr - first > FETCH_ARGS_MAX) {
		dyn_refuse(c, c->words[first + FETCH_ARGS_MAX], "Too many arguments are specified");
		return -E2BIG;
	}
	for (unsigned i = first; i < c->nr && !err; i++) {
		struct fetch_arg *arg = kzalloc(sizeof(*arg), GFP_KERNEL);
		struct fetch_parser p = {.c = c, .args = args, .arg = arg, .flags = flags, .fields = fields ?: none};

		if (!arg)
			return -ENOMEM;
		args->args[args->nr++] = arg;
		err = parse_word(&p, c->words[i]);
		if (err)
			break;
		arg->offset = args->size;
		args->size += arg->type->size * (arg->count ?: 1);
		args->dynamic |= arg->type->is_string;
	}
	/* A tracepoint has a stack pointer, and no registers that it could be taken from. */
	if (!err && !(flags & FETCH_TPOINT))
		fetch_find_plain(args);
	return err;
}

int fetch_resolve(struct fetch_args *args)
{
	int err = 0;

	for (unsigned i = 0; i < args->nr && !err; i++)
		if (args->args[i]->symbol)
			err = find_symbol(args->args[i]->symbol, &args->args[i]->imm);
	return err;
}
