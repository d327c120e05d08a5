/* Read-copy-update. A module that has called call_rcu() waits with rcu_barrier() in its exit. */
#pragma once

#include <lib/atomic.h>
#include <sched/sched.h>
#include <sched/wait.h>

#define rcu_dereference(p)	  smp_load_acquire(&(p))
#define rcu_assign_pointer(p, v)  smp_store_release(&(p), v)
#define rcu_access_pointer(p)	  READ_ONCE(p)
#define rcu_dereference_protected(p, c) (p)
#define RCU_INIT_POINTER(p, v)	  WRITE_ONCE(p, v)
#define synchronize_rcu_expedited() synchronize_rcu()

struct rcu_barrier_head {
	struct rcu_head rcu;
	struct completion done;
};
static inline void rcu_barrier_done(struct rcu_head *head)
{
	complete(&container_of(head, struct rcu_barrier_head, rcu)->done);
}
/* Callbacks are called in the order of their calls of call_rcu(), so ours is the last of those that are there now. */
static inline void rcu_barrier(void)
{
	struct rcu_barrier_head barrier;

	init_completion(&barrier.done);
	call_rcu(&barrier.rcu, rcu_barrier_done);
	wait_for_completion(&barrier.done);
}
