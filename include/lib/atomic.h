/*
 * Atomic integers and memory barriers, over the compiler's __atomic builtins: there is no architecture code.
 *
 * Operations that return nothing (atomic_inc, atomic_dec, atomic_add, set_bit) are atomic and order nothing. Those that
 * return a value (atomic_inc_return, xchg, cmpxchg, test_and_set_bit) are fully ordered, as kernel programmers expect.
 * All of them work in any context, NMIs included.
 */
#pragma once

#include <lib/types.h>

/* Structs, so that a plain assignment, which would not be atomic, does not compile. */
typedef struct {
	int counter;
} atomic_t;
typedef struct {
	s64 counter;
} atomic64_t;

#define ATOMIC_INIT(v) \
	{              \
		(v)    \
	}

#define atomic_read(a)		__atomic_load_n(&(a)->counter, __ATOMIC_RELAXED)
#define atomic_set(a, v)	__atomic_store_n(&(a)->counter, (v), __ATOMIC_RELAXED)
#define atomic_add(v, a)	((void)__atomic_fetch_add(&(a)->counter, (v), __ATOMIC_RELAXED))
#define atomic_sub(v, a)	((void)__atomic_fetch_sub(&(a)->counter, (v), __ATOMIC_RELAXED))
#define atomic_inc(a)		atomic_add(1, a)
#define atomic_dec(a)		atomic_sub(1, a)
#define atomic_or(v, a)		((void)__atomic_fetch_or(&(a)->counter, (v), __ATOMIC_RELAXED))
#define atomic_add_return(v, a) __atomic_add_fetch(&(a)->counter, (v), __ATOMIC_SEQ_CST)
#define atomic_sub_return(v, a) __atomic_sub_fetch(&(a)->counter, (v), __ATOMIC_SEQ_CST)
#define atomic_inc_return(a)	atomic_add_return(1, a)
#define atomic_dec_return(a)	atomic_sub_return(1, a)
/* True when the count fell to zero: the caller owns the object now and sees every earlier write to it. */
#define atomic_dec_and_test(a)	(atomic_dec_return(a) == 0)
#define atomic_xchg(a, v)	__atomic_exchange_n(&(a)->counter, (v), __ATOMIC_SEQ_CST)
#define atomic_cmpxchg(a, o, n) cmpxchg(&(a)->counter, (o), (n))
#define atomic64_read(a)	atomic_read(a)
#define atomic64_set(a, v)	atomic_set(a, v)
#define atomic64_add(v, a)	atomic_add(v, a)
#define atomic64_inc(a)		atomic_add(1, a)
#define atomic64_inc_return(a)	atomic_add_return(1, a)

/*
 * Take a reference unless the object is already on its way out: false when the count is 0. The loop ends because each
 * failure loads the count that another CPU has just stored. Acquire: what the caller reads of the object comes after.
 */
static inline bool atomic_inc_not_zero(atomic_t *a)
{
	int old = atomic_read(a);

	while (old)
		if (__atomic_compare_exchange_n(&a->counter, &old, old + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	return false;
}

#define xchg(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)
/* Stores `n` if *p is `o`. Returns what was there, which equals `o` when the exchange was made. Fully ordered. */
#define cmpxchg(p, o, n)                                                                               \
	({                                                                                             \
		__typeof__(*(p)) _old = (o);                                                           \
		__atomic_compare_exchange_n(p, &_old, (n), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED); \
		_old;                                                                                  \
	})

/*
 * Order between CPUs. What a CPU stores before smp_store_release is seen by a CPU whose smp_load_acquire sees that
 * value. smp_rmb keeps loads in order, smp_wmb stores, and smp_mb all of both, including a store before a later load.
 */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
#define smp_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)
/* Orders a plain or atomic store before a later load: what a sleeper needs between set state and test condition. */
#define smp_store_mb(var, v)        \
	do {                        \
		WRITE_ONCE(var, v); \
		smp_mb();           \
	} while (0)

/* Atomic bits: bit nr is bit nr % 64 of word nr / 64. The test_and_ functions return the old bit. */
static inline void set_bit(unsigned nr, unsigned long *p)
{
	__atomic_fetch_or(&p[nr / 64], BIT(nr % 64), __ATOMIC_RELAXED);
}
static inline void clear_bit(unsigned nr, unsigned long *p)
{
	__atomic_fetch_and(&p[nr / 64], ~BIT(nr % 64), __ATOMIC_RELAXED);
}
static inline bool test_bit(unsigned nr, const unsigned long *p)
{
	return (READ_ONCE(p[nr / 64]) >> (nr % 64)) & 1;
}
static inline bool test_and_set_bit(unsigned nr, unsigned long *p)
{
	return (__atomic_fetch_or(&p[nr / 64], BIT(nr % 64), __ATOMIC_SEQ_CST) >> (nr % 64)) & 1;
}
static inline bool test_and_clear_bit(unsigned nr, unsigned long *p)
{
	return (__atomic_fetch_and(&p[nr / 64], ~BIT(nr % 64), __ATOMIC_SEQ_CST) >> (nr % 64)) & 1;
}
