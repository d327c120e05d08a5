/*
 * Where the pointers of a module's parameters lead: the name, the operations of the type, the variable, and what the
 * variable holds before anybody sets it. The kernel's own types write so many bytes as the table below says. Operations
 * of the module's own get the variable's address as it is, and look at it themselves.
 */
#include "internal.h"

#include <kernel/module_check.h>
#include <kernel/moduleparam.h>
#include <lib/string.h>

/* How many bytes the kernel's functions read and write. A text is a pointer, which they also follow. */
static const struct param_size {
	const struct kernel_param_ops *ops;
	void *set, *get; /* under which modules know them */
	size_t size;
	bool is_text;
} param_sizes[] = {
	{&param_ops_byte, NULL, NULL, 1, false},
	{&param_ops_short, NULL, NULL, sizeof(short), false},
	{&param_ops_ushort, NULL, NULL, sizeof(short), false},
	{&param_ops_int, param_set_int, param_get_int, sizeof(int), false},
	{&param_ops_uint, NULL, NULL, sizeof(int), false},
	{&param_ops_long, NULL, NULL, sizeof(long), false},
	{&param_ops_ulong, NULL, NULL, sizeof(long), false},
	{&param_ops_ullong, NULL, NULL, sizeof(long), false},
	{&param_ops_charp, param_set_charp, param_get_charp, sizeof(char *), true},
	{&param_ops_bool, param_set_bool, param_get_bool, sizeof(bool), false},
	{&param_ops_invbool, NULL, NULL, sizeof(bool), false},
};

/* A structure that the kernel follows and does not write. Modules often have it among their data. */
static bool has_struct(struct module_check *c, const void *p, size_t size)
{
	return module_has_const(c, p, size) || (!((unsigned long)p % 8) && module_claim(c, p, size, CLAIM_STRUCT));
}

/* A variable of this type. The text that it begins with is followed by whoever reads the parameter's file. */
static bool has_variable(struct module_check *c, const struct param_size *type, void *arg)
{
	if (!type->is_text)
		return module_claim(c, arg, type->size, CLAIM_NUMBER);
	return module_claim(c, arg, type->size, CLAIM_TEXT) &&
	       (!*(char **)arg || module_reaches_text(c, *(char **)arg));
}

/* One of the module's own operations: a function of its own, or one of the kernel's with a variable that fits it. */
static bool may_operate(struct module_check *c, const void *fn, void *arg)
{
	if (!fn || module_has_code(c, (unsigned long)fn))
		return true;
	for (unsigned i = 0; i < ARRAY_SIZE(param_sizes); i++)
		if (fn == param_sizes[i].set || fn == param_sizes[i].get)
			return has_variable(c, &param_sizes[i], arg);
	return false;
}

/* Operations that a module has which this one uses: all of them are functions of that module. */
static bool is_of_source(const struct module *mod, const struct kernel_param_ops *ops)
{
	const struct module_use *use;

	list_for_each_entry(use, &mod->uses, sources) {
		const struct module_memory *text = &use->source->memory[MODULE_TEXT], *data = text + MODULE_RODATA;

		if (in_part(data, (unsigned long)ops) && in_part(data, (unsigned long)(ops + 1) - 1))
			return (!ops->set || in_part(text, (unsigned long)ops->set)) &&
			       (!ops->get || in_part(text, (unsigned long)ops->get)) &&
			       (!ops->free || in_part(text, (unsigned long)ops->free));
	}
	return false;
}

static bool has_value(struct module_check *c, const struct kernel_param_ops *ops, void *arg)
{
	for (unsigned i = 0; i < ARRAY_SIZE(param_sizes); i++)
		if (ops == param_sizes[i].ops)
			return has_variable(c, &param_sizes[i], arg);
	if (is_of_source(module_checked(c), ops))
		return true;
	return has_struct(c, ops, sizeof(*ops)) && may_operate(c, ops->set, arg) && may_operate(c, ops->get, arg) &&
	       (!ops->free || module_has_code(c, (unsigned long)ops->free));
}

/*
 * The array and the count of what was given go together: both with init, or both with the module. There cannot be more
 * elements than bytes.
 */
static bool has_array(struct module_check *c, const struct kparam_array *array)
{
	const struct module_memory *memory = module_checked(c)->memory, *init = &memory[MODULE_INIT_DATA];

	if (!has_struct(c, array, sizeof(*array)) || array->ops == &param_array_ops || array->ops == &param_ops_string)
		return false;
	if (!array->elem_size || array->max > memory[MODULE_DATA].size + init->size)
		return false;
	if (array->num && (!module_claim(c, array->num, sizeof(*array->num), CLAIM_NUMBER) ||
			   in_part(init, (unsigned long)array->num) != in_part(init, (unsigned long)array->elem)))
		return false;
	for (size_t i = 0; i < array->max; i++)
		if (!has_value(c, array->ops, (char *)array->elem + i * array->elem_size))
			return false;
	return true;
}

/* The room for a text. */
static bool has_string(struct module_check *c, const struct kparam_string *s)
{
	return has_struct(c, s, sizeof(*s)) && module_claim(c, s->string, s->maxlen, CLAIM_NUMBER);
}

static bool has_param(struct module_check *c, const struct kernel_param *p)
{
	if (!module_has_name(c, p->name))
		return false;
	if (p->ops == &param_array_ops)
		return has_array(c, p->arg);
	if (p->ops == &param_ops_string)
		return has_string(c, p->arg);
	return has_value(c, p->ops, p->arg);
}

int module_check_params(struct module_check *c)
{
	unsigned n;
	int err;
	const struct kernel_param *params = module_check_table(c, "__param", sizeof(*params), false, &n, &err);

	for (unsigned i = 0; i < n && !err; i++)
		if (!has_param(c, &params[i]))
			err = module_bad_table(c, "__param");
	return err;
}
