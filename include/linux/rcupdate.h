/* Read-copy-update. A module that has called call_rcu() waits with rcu_barrier() in its exit. */
#pragma once

#include <lib/atomic.h>
#include <sched/sched.h>

#define rcu_dereference(p)		smp_load_acquire(&(p))
#define rcu_assign_pointer(p, v)	smp_store_release(&(p), v)
#define rcu_access_pointer(p)		READ_ONCE(p)
#define rcu_dereference_protected(p, c) (p)
#define RCU_INIT_POINTER(p, v)		WRITE_ONCE(p, v)
#define synchronize_rcu_expedited()	synchronize_rcu()
