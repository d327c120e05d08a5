/*
 * likely() and unlikely(): which way a branch mostly goes, so that the compiler lays the code out for it.
 *
 * In an ordinary build that is all. `make branch-arm64` (branch-x86_64) builds a kernel in which each of these hints
 * counts how often it was right, and with BRANCH=all one in which every `if` counts how often its condition was true,
 * too. Both kernels have the tracer `branch` (trace/tracers/branch, docs/tracer-branch.md). This is the only file
 * that knows of these builds: mk/kernel_flags.mk defines BRANCH_PROFILE, BRANCH_PROFILE_ALL, and BRANCH_UNTRACED for
 * files that the tracer may not enter because it runs in them.
 */
#pragma once

#include <lib/types.h>

#ifdef BRANCH_PROFILE

/* What one site has seen on one CPU. Locks: a atomic. */
struct branch_counts {
	u64 correct;   /* [a] the condition was as hinted; of an `if`: it was true */
	u64 incorrect; /* [a] it was not */
};

/* A hint, or an `if`. [I] */
struct branch_site {
	const char *func, *file;      /* the file's path as the compiler was given it */
	struct branch_counts *counts; /* its variable in the per-CPU template */
	int line;
};

/*
 * Adds one to this CPU's counter. Any context in which the CPU has its per-CPU offset: all of C outside of boot/. It is
 * not traced and takes no lock. trace/tracers/branch/stat.c
 */
void branch_count(const struct branch_site *site, bool correct);
/* The same, and a record for each array that has the tracer `branch`. trace/tracers/branch/tracer.c */
void branch_asked(const struct branch_site *site, bool correct);

#ifdef BRANCH_UNTRACED
#define branch_hint branch_count
#else
#define branch_hint branch_asked
#endif

/*
 * A site in the table of its kind, and its counters. The empty assembly is all that refers to the table's entry, so
 * that a site which the compiler has removed is not listed. Symbols that begin with __branch_ are left out of kallsyms.
 */
#define __branch_site(kind)                                                                                       \
	({                                                                                                        \
		static struct branch_counts __section(".data..percpu") __branch_counts;                           \
		static const struct branch_site __branch_here = {__func__, __FILE__, &__branch_counts, __LINE__}; \
		static const struct branch_site *const __section("ptrs_branch_" #kind) __branch_entry =           \
			&__branch_here;                                                                           \
		__asm__ volatile("" : : "i"(&__branch_entry));                                                    \
		&__branch_here;                                                                                   \
	})

/* As in Linux, what the compiler knows by itself is not counted. No `if` here, since that may be the macro below. */
#define __branch_check(x, expect)                                                                                   \
	({                                                                                                          \
		bool __branch_is = !!(x);                                                                           \
		__builtin_constant_p(__branch_is) ? (void)0                                                         \
						  : branch_hint(__branch_site(annotated), __branch_is == (expect)); \
		__builtin_expect(__branch_is, expect);                                                              \
	})

#define likely(x)   __branch_check(x, 1)
#define unlikely(x) __branch_check(x, 0)

#ifdef BRANCH_PROFILE_ALL
#define __branch_if(...)                                                                                     \
	({                                                                                                   \
		bool __branch_is = !!(__VA_ARGS__);                                                          \
		__builtin_constant_p(__branch_is) ? (void)0 : branch_count(__branch_site(all), __branch_is); \
		__branch_is;                                                                                 \
	})
/* A blank behind the name would make it a macro without arguments. */
/* clang-format off */
#define if(...) if (__branch_if(__VA_ARGS__))
/* clang-format on */
#endif

#else

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
