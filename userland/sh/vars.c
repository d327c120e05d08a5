/*
 * Variables: values, export, and what a function's `local` covers up.
 *
 * A list sorted by name: scripts have a few dozen variables, and `set` prints them in that order.
 * Names and values are owned by the list. $PATH is kept in the C library's environment too, because
 * vt_which() looks there.
 *
 *     vars -> HOME -> PATH -> x -> NULL               by name
 *     saved -> x was '2' -> x was '1' -> NULL         newest first; restored down to a height
 *
 * A variable may be known without a value: `export x` before x is set makes one that is exported and
 * counts as not set.
 */
#include "sh.h"
#include <ctype.h>

static struct var *vars; /* sorted by name */

/* What a variable was before `local`, on a stack. */
struct saved_var {
	struct var was; /* name and value are copies, owned by this */
	bool existed;	/* else it is unset again */
	struct saved_var *below;
};

static struct saved_var *saved;
static size_t saved_count;

/*
 * The link that points to the variable, or to where it would be put in: both the one to add and the
 * one to remove need that link.
 */
static struct var **var_place(const char *name)
{
	struct var **at = &vars;

	while (*at && strcmp((*at)->name, name) < 0)
		at = &(*at)->next;
	return at;
}

/* NULL when there is no such variable; one that is only exported is found with value NULL. */
static struct var *var_find(const char *name)
{
	struct var *v = *var_place(name);

	return v && !strcmp(v->name, name) ? v : NULL;
}

/* Find it, or add it without a value. */
static struct var *var_make(const char *name)
{
	struct var **at = var_place(name), *v = *at;

	if (v && !strcmp(v->name, name))
		return v;
	v = vt_malloc(sizeof(*v));
	*v = (struct var){.name = vt_strdup(name), .next = *at};
	*at = v;
	return v;
}

const char *var_get(const char *name)
{
	struct var *v = var_find(name);

	return v ? v->value : NULL;
}

/*
 * The variable owns this value from now on; NULL: it has none. getopts begins at the start of a word after OPTIND was
 * set. libvt looks for programs by the C library's environment,
 * so $PATH goes there too.
 */
static void var_store(struct var *v, char *value)
{
	free(v->value);
	v->value = value;
	if (!strcmp(v->name, "OPTIND"))
		sh.option_at = 0;
	if (strcmp(v->name, "PATH"))
		return;
	if (value)
		setenv("PATH", value, 1);
	else
		unsetenv("PATH");
}

/* An error for a readonly variable abandons the command line (sh_error does not return). */
void var_set(const char *name, const char *value)
{
	struct var *v = var_make(name);

	if (v->readonly)
		sh_error("%s: is read only", name);
	var_store(v, vt_strdup(value)); /* copied first: value may be the old one */
}

void var_set_number(const char *name, long value)
{
	char text[24];

	sprintf(text, "%ld", value);
	var_set(name, text);
}

void var_unset(const char *name)
{
	struct var **at = var_place(name), *v = *at;

	/* Unsetting what is not set is no error. */
	if (!v || strcmp(v->name, name))
		return;
	if (v->readonly)
		sh_error("%s: is read only", name);
	*at = v->next;
	var_store(v, NULL);
	free(v->name);
	free(v);
}

void var_export(const char *name)
{
	var_make(name)->exported = true;
}

void var_protect(const char *name)
{
	var_make(name)->readonly = true;
}

/* The C locale's letters: a name must mean the same everywhere. */
size_t var_name_length(const char *text)
{
	size_t n = 0;

	if (isdigit((unsigned char)*text))
		return 0;
	while (text[n] == '_' || isalnum((unsigned char)text[n]))
		n++;
	return n;
}

bool var_is_assignment(const char *text)
{
	size_t n = var_name_length(text);

	return n && text[n] == '=';
}

/* `assignment` is NAME=VALUE with the value expanded already; var_is_assignment() has looked at it. */
void var_assign(const char *assignment)
{
	size_t n = var_name_length(assignment);
	char *name = arena_copy(&sh.temp, assignment, n);

	var_set(name, assignment + n + 1);
}

/*
 * Both `local` and `x=1 command` come here; the code that saves restores to the height that it found. This works
 * like a stack of undo records: a function notes the height at its beginning (var_saved), and
 * var_restore() undoes what lies above, whether the function returned or an error jumped out of it.
 */
void var_save(const char *name)
{
	struct saved_var *s = vt_malloc(sizeof(*s));
	struct var *v = var_find(name);

	*s = (struct saved_var){.existed = v != NULL, .below = saved};
	if (v)
		s->was = *v;
	s->was.name = vt_strdup(name);
	s->was.value = v && v->value ? vt_strdup(v->value) : NULL;
	saved = s;
	saved_count++;
}

size_t var_saved(void)
{
	return saved_count;
}

/*
 * Newest first, so that a variable saved twice ends with its oldest value. A variable that was made readonly meanwhile
 * comes back too, and can be changed again.
 */
void var_restore(size_t count)
{
	while (saved_count > count) {
		struct saved_var *s = saved;
		struct var *v;

		saved = s->below;
		saved_count--;
		v = var_make(s->was.name);
		v->readonly = s->was.readonly;
		v->exported = s->was.exported;
		if (s->existed)
			var_store(v, s->was.value);
		else
			var_unset(s->was.name);
		free(s->was.name);
		free(s);
	}
}

/*
 * The environment of a program: "NAME=VALUE" of all exported variables, in memory of the arena. It is
 * made for each program, which costs less than keeping it in step with every assignment.
 */
char **var_environment(struct arena *a)
{
	size_t count = 0, i = 0;
	char **env;

	for (struct var *v = vars; v; v = v->next)
		count += v->exported && v->value;
	env = arena_alloc(a, (count + 1) * sizeof(*env));
	for (struct var *v = vars; v; v = v->next) {
		if (!v->exported || !v->value)
			continue;
		env[i] = arena_alloc(a, strlen(v->name) + strlen(v->value) + 2);
		sprintf(env[i++], "%s=%s", v->name, v->value);
	}
	env[i] = NULL;
	return env;
}

/*
 * POSIX: everything from the environment is exported. $IFS is not taken from it, as it could change
 * what a script means.
 */
void var_init(char **environment)
{
	char path[1024];

	for (; *environment; environment++) {
		size_t n = var_name_length(*environment);

		if (!n || (*environment)[n] != '=')
			continue;
		char *name = arena_copy(&sh.temp, *environment, n);

		var_set(name, *environment + n + 1);
		var_export(name);
	}
	if (!var_get("PATH"))
		var_set("PATH", "/bin:/sbin");
	/* Not from the environment: who started us may have gone elsewhere after its own `cd`. */
	if (getcwd(path, sizeof(path)))
		var_set("PWD", path);
	/* The defaults of POSIX, but for $PS1, which shows where one is. */
	if (!var_get("PS1"))
		var_set("PS1", "\\w # ");
	if (!var_get("PS2"))
		var_set("PS2", "> ");
	if (!var_get("PS4"))
		var_set("PS4", "+ ");
	var_set("IFS", " \t\n");
	var_set_number("PPID", getppid());
	var_set_number("OPTIND", 1);
}

/* A quote within the text is written '\'': close, a quoted quote, open again. "it's" is printed as 'it'\''s'. */
void print_quoted(const char *text)
{
	printf("'");
	for (; *text; text++)
		printf(*text == '\'' ? "'\\''" : "%c", *text);
	printf("'");
}

/* One variable a line, in a form that a shell can read again. */
void var_print(const char *prefix, bool exported, bool readonly)
{
	for (struct var *v = vars; v; v = v->next) {
		if ((exported && !v->exported) || (readonly && !v->readonly))
			continue;
		printf("%s%s", prefix, v->name);
		if (v->value) {
			printf("=");
			print_quoted(v->value);
		}
		printf("\n");
	}
}
