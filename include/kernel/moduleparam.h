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

/* A variable must have the type of its parameter, else its neighbours would be written. */
#define __param_check(name, p, type)                            \
	static inline __maybe_unused type *__check_##name(void) \
	{                                                       \
		return p;                                       \
	}
#define param_check_byte(name, p)    __param_check(name, p, u8)
#define param_check_short(name, p)   __param_check(name, p, short)
#define param_check_ushort(name, p)  __param_check(name, p, unsigned short)
#define param_check_int(name, p)     __param_check(name, p, int)
#define param_check_uint(name, p)    __param_check(name, p, unsigned)
#define param_check_long(name, p)    __param_check(name, p, long)
#define param_check_ulong(name, p)   __param_check(name, p, unsigned long)
#define param_check_ullong(name, p)  __param_check(name, p, u64)
#define param_check_charp(name, p)   __param_check(name, p, char *)
#define param_check_bool(name, p)    __param_check(name, p, bool)
#define param_check_invbool(name, p) __param_check(name, p, bool)

#define __module_param(id, pname, param_ops, value, mode)                 \
	static const struct kernel_param __param_##id __used __aligned(8) \
		__section("__param") = {pname, param_ops, mode, value}
#define module_param_cb(name, param_ops, value, mode) __module_param(name, #name, param_ops, value, mode)
/* `type` is pasted and quoted here and not handed on to another macro, since it may be a macro itself, as bool is. */
#define module_param_named(name, value, type, mode)                                                      \
	param_check_##type(name, &(value)) __module_param(name, #name, &param_ops_##type, &value, mode); \
	MODULE_INFO(parmtype, #name ":" #type)
#define module_param(name, type, mode)                                                                 \
	param_check_##type(name, &(name)) __module_param(name, #name, &param_ops_##type, &name, mode); \
	MODULE_INFO(parmtype, #name ":" #type)
#define __module_param_array(name, array, nump, param_ops, mode)                                            \
	static const struct kparam_array __param_arr_##name = {ARRAY_SIZE(array), sizeof((array)[0]), nump, \
							       &param_ops, array};                          \
	__module_param(name, #name, &param_array_ops, (void *)&__param_arr_##name, mode)
#define module_param_array_named(name, array, type, nump, mode)                                                \
	param_check_##type(name, &(array)[0]) __module_param_array(name, array, nump, param_ops_##type, mode); \
	MODULE_INFO(parmtype, #name ":array of " #type)
#define module_param_array(name, type, nump, mode)                                                           \
	param_check_##type(name, &(name)[0]) __module_param_array(name, name, nump, param_ops_##type, mode); \
	MODULE_INFO(parmtype, #name ":array of " #type)
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
