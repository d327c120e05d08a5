/*
 * Parameters of modules: variables that insmod and modprobe set, and that stand in /sys/module/<name>/parameters.
 *
 *	static int count = 3;
 *	module_param(count, int, 0644);
 *	MODULE_PARM_DESC(count, "how often");
 */
#pragma once

#include <lib/types.h>

struct kernel_param;
/* How a type is read and written. `val` NULL: a name without "=value". 0 or -errno. Thread context. */
struct kernel_param_ops {
	bool noarg_allowed; /* "name" alone is good */
	int (*set)(const char *val, const struct kernel_param *kp);
	int (*get)(char *buffer, const struct kernel_param *kp); /* at most PAGE_SIZE bytes; returns how many */
	void (*free)(void *arg);				 /* the module goes; NULL: nothing to free */
};
struct kernel_param {
	const char *name;
	const struct kernel_param_ops *ops;
	mode_t perm; /* of its file; 0: none */
	void *arg;   /* the variable, or one of the next two */
};
/* An array: *num is how many were given. */
struct kparam_array {
	unsigned max, elem_size;
	unsigned *num;
	const struct kernel_param_ops *ops;
	void *elem;
};
/* A text with a room of its own. */
struct kparam_string {
	unsigned maxlen;
	char *string;
};

extern const struct kernel_param_ops param_ops_byte, param_ops_short, param_ops_ushort, param_ops_int, param_ops_uint,
	param_ops_long, param_ops_ulong, param_ops_ullong, param_ops_charp, param_ops_bool, param_ops_invbool,
	param_array_ops, param_ops_string;
/*
 * What param_ops_int and its like call, for modules that wrap them. set: 0, -EINVAL, -ERANGE, -ENOMEM, -ENOSPC for a
 * text that is too long. get: the length of the text, a page at most. Thread context; the parameters' lock is held.
 */
int param_set_int(const char *val, const struct kernel_param *kp);
int param_get_int(char *buffer, const struct kernel_param *kp);
int param_set_charp(const char *val, const struct kernel_param *kp);
int param_get_charp(char *buffer, const struct kernel_param *kp);
int param_set_bool(const char *val, const struct kernel_param *kp);
int param_get_bool(char *buffer, const struct kernel_param *kp);

#define __module_param(id, pname, param_ops, value, mode)                 \
	static const struct kernel_param __param_##id __used __aligned(8) \
		__section("__param") = {pname, param_ops, mode, value}
#define module_param_cb(name, param_ops, value, mode) __module_param(name, #name, param_ops, value, mode)
#define module_param_named(name, value, type, mode)                   \
	__module_param(name, #name, &param_ops_##type, &value, mode); \
	MODULE_INFO(parmtype, #name ":" #type)
#define module_param(name, type, mode) module_param_named(name, name, type, mode)
#define module_param_array_named(name, array, type, nump, mode)                                             \
	static const struct kparam_array __param_arr_##name = {ARRAY_SIZE(array), sizeof((array)[0]), nump, \
							       &param_ops_##type, array};                   \
	__module_param(name, #name, &param_array_ops, (void *)&__param_arr_##name, mode);                   \
	MODULE_INFO(parmtype, #name ":array of " #type)
#define module_param_array(name, type, nump, mode) module_param_array_named(name, name, type, nump, mode)
#define module_param_string(name, text, len, mode)                                            \
	static const struct kparam_string __param_string_##name = {len, text};                \
	__module_param(name, #name, &param_ops_string, (void *)&__param_string_##name, mode); \
	MODULE_INFO(parmtype, #name ":string")
#define MODULE_PARM_DESC(name, text) MODULE_INFO(parm, #name ":" text)

/* A word of the section .modinfo, which modinfo(8) shows. The kernel itself has no such words. */
#ifdef MODULE
#define MODULE_INFO(tag, text)                                                                                 \
	static const char __concat(__modinfo_##tag, __COUNTER__)[] __used __section(".modinfo") __aligned(1) = \
		#tag "=" text
#else
#define MODULE_INFO(tag, text) static_assert(1, "")
#endif
