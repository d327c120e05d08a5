/*
 * Basic types, attributes and the small macros that every file may use. It has no dependency but the compiler's own
 * headers, so everything can include it. Names and meanings are Linux's where Linux has the thing.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
/*
 * Tutorials print a u64 by %llu, as it is an unsigned long long on Linux: for modules it is one here. The kernel's own
 * is <stdint.h>'s. The two are passed and stored in the same way.
 */
#ifdef MODULE
typedef unsigned long long u64;
typedef long long s64;
#else
typedef uint64_t u64;
typedef int64_t s64;
#endif
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;

typedef long ssize_t;
typedef s64 loff_t, off_t;   /* byte offset in a file */
typedef u32 mode_t, umode_t; /* file type and permission bits, as in stat(2) */
typedef u64 dev_t;	     /* major << 20 | minor inside the kernel */
typedef s32 pid_t;
typedef u32 uid_t;
typedef u32 gid_t;
typedef u64 phys_addr_t;
typedef s64 ktime_t; /* nanoseconds */
typedef u32 gfp_t;   /* allocation flags, see <mm/gfp.h> */

/* Marks a pointer that user space supplied: only <asm/uaccess.h> may follow it. */
#define __user

/* Attributes. notrace: the function gets no call site for the tracer. */
#define notrace __attribute__((no_instrument_function))
/*
 * Inlined functions must never carry a call site of their own: what is inlined differs between builds, and traces must
 * not.
 */
#define inline inline __attribute__((no_instrument_function))
#define __always_inline inline __attribute__((always_inline))
#define noinline	__attribute__((noinline))
/* In pages without patchable code. */
#define noinstr	       notrace noinline __attribute__((section(".noinstr.text")))
#define __noreturn     __attribute__((noreturn))
#define __used	       __attribute__((used))
#define __maybe_unused __attribute__((unused))
#define __weak	       __attribute__((weak))
#define __packed       __attribute__((packed))
#define __aligned(n)   __attribute__((aligned(n)))
#define __irq_entry    noinline __attribute__((section(".irqentry.text"))) /* what handle_arch_irq is */
#define __section(s)   __attribute__((section(s)))
/* It allocates, and the argument `n` of `free` gives back: gcc tells of another function, and of a use afterwards. */
#ifdef __clang__
#define __freed_by(free, n)
#else
#define __freed_by(free, n) __attribute__((malloc(free, n)))
#endif
#define __printf(f, a)	    __attribute__((format(printf, f, a)))
#define __must_check	    __attribute__((warn_unused_result))
#define __cacheline_aligned __aligned(64)
#define fallthrough	    __attribute__((fallthrough))

/* Keeps the compiler, not the CPU, from moving memory accesses across it. */
#define barrier() __asm__ volatile("" ::: "memory")
/*
 * Behind a call that ends a function: it is no jump then, and the callee finds this function as its caller. Callbacks
 * of call_rcu() end so, since the events of kmem would name the thread that runs them all.
 */
#define no_tail_call() barrier()

/* A single access that the compiler neither tears nor repeats nor leaves out. It orders nothing; see <lib/atomic.h>. */
#define READ_ONCE(x)	 (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

/*
 * container_of: the object that `member` at `ptr` is part of. ALIGN rounds up and ALIGN_DOWN rounds down to a power of
 * two.
 */
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
#define ARRAY_SIZE(a)			(sizeof(a) / sizeof((a)[0]))
#define BIT(n)				(1UL << (n))
#define ALIGN(x, a)			(((x) + (__typeof__(x))(a)-1) & ~((__typeof__(x))(a)-1))
#define ALIGN_DOWN(x, a)		((x) & ~((__typeof__(x))(a)-1))
#define IS_ALIGNED(x, a)		(((x) & ((__typeof__(x))(a)-1)) == 0)
#define DIV_ROUND_UP(n, d)		(((n) + (d)-1) / (d))
#define is_power_of_2(n)		((n) != 0 && ((n) & ((n)-1)) == 0)
#define static_assert(...) _Static_assert(__VA_ARGS__)
#define __stringify_1(...) #__VA_ARGS__
#define __stringify(...)   __stringify_1(__VA_ARGS__)
#define __concat_1(a, b)   a##b
#define __concat(a, b)	   __concat_1(a, b)

/* Each argument is evaluated once, and both must have types that compare without surprise; min_t casts first. */
#define min(a, b)                                  \
	({                                         \
		__typeof__(a) _min_a = (a);        \
		__typeof__(b) _min_b = (b);        \
		_min_a < _min_b ? _min_a : _min_b; \
	})
#define max(a, b)                                  \
	({                                         \
		__typeof__(a) _max_a = (a);        \
		__typeof__(b) _max_b = (b);        \
		_max_a > _max_b ? _max_a : _max_b; \
	})
#define min_t(t, a, b)	 min((t)(a), (t)(b))
#define max_t(t, a, b)	 max((t)(a), (t)(b))
#define clamp(v, lo, hi) min(max(v, lo), hi)
#define swap(a, b)                         \
	do {                               \
		__typeof__(a) _swap = (a); \
		(a) = (b);                 \
		(b) = _swap;               \
	} while (0)

#define U64_MAX	 (~(u64)0)
#define S64_MAX	 ((s64)(U64_MAX >> 1))
#define U32_MAX	 (~(u32)0)
#define INT_MAX	 0x7fffffff
#define LONG_MAX ((long)(~0UL >> 1))
#define LONG_MIN (-LONG_MAX - 1)

#define NSEC_PER_SEC  1000000000L
#define NSEC_PER_MSEC 1000000L
#define NSEC_PER_USEC 1000L

/*
 * Put a pointer to `obj` into the table `ptrs_<table>`, which the linker gathers between __start_ptrs_<table> and
 * __stop_ptrs_<table>. The table holds pointers, because the compiler pads structs in a section and the count would go
 * wrong.
 */
#define REGISTER_IN(table, obj)                                                                                     \
	static const __typeof__(obj) *const __concat(__ptr_##table##_, __LINE__) __used __section("ptrs_" #table) = \
		&(obj)
#define DECLARE_TABLE(table, type) extern type *const __start_ptrs_##table[], *const __stop_ptrs_##table[]
#define for_each_in_table(table, p)                                           \
	for (__typeof__(&__start_ptrs_##table[0]) _it = __start_ptrs_##table; \
	     _it < __stop_ptrs_##table && ((p) = *_it, 1); _it++)

/* likely() and unlikely(). Last, because it needs what stands above. */
#include <lib/branch.h>
