/*
 * Parameters of modules: the types, and the text "name=value other=value" that insmod passes.
 *
 * A value may stand in quotes, and a - in a name is a _, as in Linux. A name that the module does not have is reported
 * in the log and ignored, so that an old script still loads a new module; a value that a parameter does not take is an
 * error.
 */
#include "internal.h"

#include <kernel/export.h>
#include <kernel/moduleparam.h>
#include <kernel/printk.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>

/* ---- Types */

/*
 * A type whose numbers lie in a range. The text may have a sign and 0x in front; a minus before a type without sign is
 * no number, as on Linux.
 */
#define DEFINE_NUMBER(name, type, low, high, fmt)                                                               \
	static int param_store_##name(const char *val, const struct kernel_param *kp)                           \
	{                                                                                                       \
		s64 number;                                                                                     \
		int err = val ? kstrtoll(val, 0, &number) : -EINVAL;                                            \
                                                                                                                \
		if (err)                                                                                        \
			return err;                                                                             \
		if (number < (long long)(low) || number > (long long)(high))                                    \
			return number < 0 && !(low) ? -EINVAL : -ERANGE;                                        \
		*(type *)kp->arg = number;                                                                      \
		return 0;                                                                                       \
	}                                                                                                       \
	static int param_show_##name(char *buffer, const struct kernel_param *kp)                               \
	{                                                                                                       \
		return scnprintf(buffer, PAGE_SIZE, fmt "\n", *(const type *)kp->arg);                          \
	}                                                                                                       \
	const struct kernel_param_ops param_ops_##name = {.set = param_store_##name, .get = param_show_##name}; \
	EXPORT_SYMBOL(param_ops_##name)

DEFINE_NUMBER(byte, u8, 0, 255, "%u");
DEFINE_NUMBER(short, s16, -32768, 32767, "%d");
DEFINE_NUMBER(ushort, u16, 0, 65535, "%u");
DEFINE_NUMBER(int, int, -INT_MAX - 1, INT_MAX, "%d");
DEFINE_NUMBER(uint, unsigned, 0, U32_MAX, "%u");
DEFINE_NUMBER(long, long, LONG_MIN, LONG_MAX, "%ld");

/* Types whose largest values do not fit into the signed number that the others are read as. */
static int param_store_ulong(const char *val, const struct kernel_param *kp)
{
	return val ? kstrtoul(val, 0, (unsigned long *)kp->arg) : -EINVAL;
}
static int param_show_ulong(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%lu\n", *(const unsigned long *)kp->arg);
}
const struct kernel_param_ops param_ops_ulong = {.set = param_store_ulong, .get = param_show_ulong};
EXPORT_SYMBOL(param_ops_ulong);
const struct kernel_param_ops param_ops_ullong = {.set = param_store_ulong, .get = param_show_ulong};
EXPORT_SYMBOL(param_ops_ullong);

/* These two under Linux's names, for modules with operations of their own that check the value around them. */
int param_set_int(const char *val, const struct kernel_param *kp)
{
	return param_store_int(val, kp);
}
EXPORT_SYMBOL(param_set_int);

int param_get_int(char *buffer, const struct kernel_param *kp)
{
	return param_show_int(buffer, kp);
}
EXPORT_SYMBOL(param_get_int);

/* y, n, 1, 0, on, off and their capitals. "name" alone means yes (noarg_allowed). */
int param_set_bool(const char *val, const struct kernel_param *kp)
{
	return kstrtobool(val ?: "1", kp->arg);
}
EXPORT_SYMBOL(param_set_bool);

int param_get_bool(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%c\n", *(const bool *)kp->arg ? 'Y' : 'N');
}
EXPORT_SYMBOL(param_get_bool);
const struct kernel_param_ops param_ops_bool = {.noarg_allowed = true, .set = param_set_bool, .get = param_get_bool};
EXPORT_SYMBOL(param_ops_bool);

/* A bool whose file and command line mean the opposite of the variable: "nofoo" for a variable foo. */
static int param_store_invbool(const char *val, const struct kernel_param *kp)
{
	bool value;
	int err = kstrtobool(val ?: "1", &value);

	if (!err)
		*(bool *)kp->arg = !value;
	return err;
}

static int param_show_invbool(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%c\n", *(const bool *)kp->arg ? 'N' : 'Y');
}
const struct kernel_param_ops param_ops_invbool = {.set = param_store_invbool, .get = param_show_invbool};
EXPORT_SYMBOL(param_ops_invbool);

/*
 * Texts that were given are allocated, and the module's own default is not: the list of those that are ours tells them
 * apart.
 */
struct param_text {
	struct param_text *next;
	char text[];
};
static struct param_text *param_texts; /* [module_texts_lock] */

/* Gives back the text that the variable points to, if it came from here. */
static void free_charp(void *arg)
{
	const char *text = *(char **)arg;

	mutex_lock(&module_texts_lock);
	for (struct param_text **p = &param_texts; *p; p = &(*p)->next) {
		struct param_text *old = *p;

		if (old->text != text)
			continue;
		*p = old->next;
		kfree(old);
		break;
	}
	mutex_unlock(&module_texts_lock);
}

/*
 * A copy, since what was passed goes away. The old text is freed at once: a module whose functions read the variable
 * while it may be written has to take care of that, as on Linux.
 */
int param_set_charp(const char *val, const struct kernel_param *kp)
{
	struct param_text *new;

	if (!val)
		return -EINVAL;
	if (strlen(val) > 1024)
		return -ENOSPC;
	new = kmalloc(sizeof(*new) + strlen(val) + 1, GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	strscpy(new->text, val, strlen(val) + 1);
	free_charp(kp->arg);
	mutex_lock(&module_texts_lock);
	new->next = param_texts;
	param_texts = new;
	mutex_unlock(&module_texts_lock);
	*(char **)kp->arg = new->text;
	return 0;
}
EXPORT_SYMBOL(param_set_charp);

int param_get_charp(char *buffer, const struct kernel_param *kp)
{
	return scnprintf(buffer, PAGE_SIZE, "%s\n", *(char **)kp->arg ?: "(null)");
}
EXPORT_SYMBOL(param_get_charp);
const struct kernel_param_ops param_ops_charp = {.set = param_set_charp, .get = param_get_charp, .free = free_charp};
EXPORT_SYMBOL(param_ops_charp);

/* A text that is copied into the module's own array, zero included; -ENOSPC when it does not fit. */
static int set_string(const char *val, const struct kernel_param *kp)
{
	const struct kparam_string *to = kp->arg;

	if (!val)
		return -EINVAL;
	return strscpy(to->string, val, to->maxlen) < 0 ? -ENOSPC : 0;
}

static int get_string(char *buffer, const struct kernel_param *kp)
{
	const struct kparam_string *from = kp->arg;

	return scnprintf(buffer, PAGE_SIZE, "%.*s\n", (int)from->maxlen, from->string);
}
const struct kernel_param_ops param_ops_string = {.set = set_string, .get = get_string};
EXPORT_SYMBOL(param_ops_string);

/*
 * Values between commas, each set by the operation of the elements' type, which is given a parameter that stands for
 * one element. More of them than the array has room for are an error. What was set before a bad one stays, and the
 * module is not loaded.
 */
static int set_array(const char *val, const struct kernel_param *kp)
{
	const struct kparam_array *array = kp->arg;
	char *text = val ? kstrdup(val, GFP_KERNEL) : NULL, *rest = text, *word;
	unsigned n = 0;
	int err = text ? 0 : val ? -ENOMEM : -EINVAL;

	while (!err && (word = strsep(&rest, ","))) {
		struct kernel_param one = {kp->name, array->ops, kp->perm, (char *)array->elem + n * array->elem_size};

		if (n == array->max)
			pr_err("%s: can only take %u arguments\n", kp->name, array->max);
		err = n < array->max ? array->ops->set(word, &one) : -EINVAL;
		n += !err;
	}
	if (!err && array->num)
		*array->num = n;
	kfree(text);
	return err;
}

/*
 * Shows as many elements as were given, or all if the array does not count them. Each value may be as long as a page
 * and brings a newline of its own, so it is made in another page first. In the buffer, which is a page too, commas take
 * the place of the newlines, and what does not fit is cut off.
 */
static int get_array(char *buffer, const struct kernel_param *kp)
{
	const struct kparam_array *array = kp->arg;
	unsigned n = array->num ? min(*array->num, array->max) : array->max;
	char *value = kmalloc(PAGE_SIZE, GFP_KERNEL);
	int got = 0;
	size_t len = 0;

	if (!value)
		return -ENOMEM;
	for (unsigned i = 0; i < n && len < PAGE_SIZE; i++) {
		struct kernel_param one = {kp->name, array->ops, kp->perm, (char *)array->elem + i * array->elem_size};

		got = array->ops->get(value, &one);
		if (got < 0)
			break;
		if (len)
			buffer[len - 1] = ',';
		got = min_t(size_t, got, PAGE_SIZE - len);
		memcpy(buffer + len, value, got);
		len += got;
	}
	kfree(value);
	return got < 0 ? got : (int)len;
}

/* All elements, also those that were never set: the type's own function knows which texts are allocated. */
static void free_array(void *arg)
{
	const struct kparam_array *array = arg;

	for (unsigned i = 0; array->ops->free && i < array->max; i++)
		array->ops->free((char *)array->elem + i * array->elem_size);
}
const struct kernel_param_ops param_array_ops = {.set = set_array, .get = get_array, .free = free_array};
EXPORT_SYMBOL(param_array_ops);

/* ---- The text */

/* a-b and a_b are the same name, since the build makes a - in a file's name a _. */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
			return false;
	return *a == *b;
}

/* Cuts the next "name=value" off: quotes keep white space together and are taken away. NULL: the end. */
static char *next_word(char **args, char **val)
{
	char *at = strim(*args), *name = at, *to;
	bool quoted = false;

	if (!*at)
		return NULL;
	*val = NULL;
	for (to = at; *at && (quoted || !isspace(*at)); at++) {
		if (*at == '"') {
			quoted = !quoted;
		} else if (*at == '=' && !*val) {
			*to++ = '\0';
			*val = to;
		} else {
			*to++ = *at;
		}
	}
	*args = at + (*at != '\0');
	*to = '\0';
	return name;
}

int module_set_param(const struct module *mod, const struct kernel_param *param, const char *val)
{
	int err = -EPERM; /* it can only be read */

	if (param->ops->set)
		err = val || param->ops->noarg_allowed ? param->ops->set(val, param) : -EINVAL;
	if (err)
		pr_err("%s: `%s' invalid for parameter `%s'\n", mod->name, val ?: "", param->name);
	return err;
}

/*
 * One word of the command line. An error is that of the type's operation: EINVAL for a text that is no value of the
 * type, ERANGE for a number that is too large, ENOSPC for a text that is too long; EPERM for a parameter that can
 * only be read. [param_lock of mod]
 */
static int set_param(const struct module *mod, const struct kernel_param *params, unsigned n, const char *name,
		     const char *val)
{
	for (unsigned i = 0; i < n; i++)
		if (same_name(name, params[i].name))
			return module_set_param(mod, &params[i], val);
	pr_warn("%s: unknown parameter '%s' ignored\n", mod->name, name);
	return 0;
}

/* The module is not running yet, but its files are there already: another task may set the same parameter. */
int module_parse_params(struct module *mod, char *args)
{
	unsigned n;
	const struct kernel_param *params = module_section(mod, "__param", sizeof(*params), &n);
	char *name, *val;
	int err = 0;

	mutex_lock(&mod->param_lock);
	while (!err && (name = next_word(&args, &val)))
		err = set_param(mod, params, n, name, val);
	mutex_unlock(&mod->param_lock);
	return err;
}

/* Of an array the elements, of a text that is copied the bytes. */
bool module_param_is_of_init(const struct module *mod, const struct kernel_param *param)
{
	const struct kparam_array *array = param->ops == &param_array_ops ? param->arg : NULL;
	const struct kparam_string *text = param->ops == &param_ops_string ? param->arg : NULL;

	return in_part(&mod->init_data, (unsigned long)(array ? array->elem : text ? text->string : param->arg));
}

/* Texts of parameters, whoever set them last. Nobody sets one any more, or, of init's, should. */
static void free_params(struct module *mod, bool of_init)
{
	unsigned n;
	const struct kernel_param *params = module_section(mod, "__param", sizeof(*params), &n);

	mutex_lock(&mod->param_lock);
	for (unsigned i = 0; i < n; i++)
		if (params[i].ops->free && module_param_is_of_init(mod, &params[i]) == of_init)
			params[i].ops->free(params[i].arg);
	mutex_unlock(&mod->param_lock);
}

void module_free_init_params(struct module *mod)
{
	free_params(mod, true);
}

/* The module has gone, or its init has failed: then those of init are still there. */
void module_free_params(struct module *mod)
{
	if (mod->init_memory)
		free_params(mod, true);
	free_params(mod, false);
}
