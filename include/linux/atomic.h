/* Atomic integers and bits. */
#pragma once

#include <lib/atomic.h>

#define ATOMIC64_INIT(v)	  ATOMIC_INIT(v)
#define atomic_fetch_add(v, a)	  __atomic_fetch_add(&(a)->counter, (v), __ATOMIC_SEQ_CST)
#define atomic_fetch_inc(a)	  atomic_fetch_add(1, a)
#define atomic_sub_and_test(v, a) (atomic_sub_return(v, a) == 0)
#define atomic_inc_and_test(a)	  (atomic_inc_return(a) == 0)
#define atomic_add_negative(v, a) (atomic_add_return(v, a) < 0)
#define atomic_and(v, a)	  ((void)__atomic_fetch_and(&(a)->counter, (v), __ATOMIC_RELAXED))
#define atomic64_dec(a)		  atomic_add(-1, a)
#define atomic64_add_return(v, a) atomic_add_return(v, a)
#define atomic64_dec_return(a)	  atomic_sub_return(1, a)
#define smp_mb__before_atomic()	  smp_mb()
#define smp_mb__after_atomic()	  smp_mb()
/* Add unless it is `u`: was it added? */
static inline bool atomic_add_unless(atomic_t *a, int v, int u)
{
	int old = atomic_read(a);

	while (old != u)
		if (__atomic_compare_exchange_n(&a->counter, &old, old + v, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			return true;
	return false;
}
