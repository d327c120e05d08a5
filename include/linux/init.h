/* Where a module begins and ends. */
#pragma once

#include <kernel/init.h>

/* In a section that is freed when init has returned; its functions are traced as all others. */
#define __init	    __attribute__((section(".init.text"), cold))
#define __initdata  __attribute__((section(".init.data")))
#define __initconst __attribute__((section(".init.rodata")))
#define __exit	    __attribute__((section(".exit.text"), used, cold))
#define __exitdata  __attribute__((section(".exit.data")))
#define __init_or_module

#ifdef MODULE
/*
 * The loader calls init_module and cleanup_module, whatever the functions are called. The semicolon is in the macro, as
 * many modules have none behind it.
 */
#define module_init(fn)                                             \
	static inline int (*__maybe_unused __init_type(void))(void) \
	{                                                           \
		return fn;                                          \
	}                                                           \
	int init_module(void) __attribute__((copy(fn), alias(#fn)));
#define module_exit(fn)                                              \
	static inline void (*__maybe_unused __exit_type(void))(void) \
	{                                                            \
		return fn;                                           \
	}                                                            \
	void cleanup_module(void) __attribute__((copy(fn), alias(#fn)));
#else
#define module_init(fn) device_initcall(fn)
#define module_exit(fn) static void (*const __maybe_unused __exit_of_kernel)(void) = fn
#endif
