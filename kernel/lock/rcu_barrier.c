/* Waiting for the callbacks of call_rcu(), by a callback of its own behind them. */
#include <kernel/export.h>
#include <lib/types.h>
#include <sched/sched.h>
#include <sched/wait.h>

struct rcu_barrier_head {
	struct rcu_head rcu;
	struct completion done;
};

static void rcu_barrier_done(struct rcu_head *head)
{
	complete(&container_of(head, struct rcu_barrier_head, rcu)->done);
}

/* Callbacks run one after the other, oldest first: when ours runs, those before it have returned. */
void rcu_barrier(void)
{
	struct rcu_barrier_head barrier;

	init_completion(&barrier.done);
	call_rcu(&barrier.rcu, rcu_barrier_done);
	wait_for_completion(&barrier.done);
}
EXPORT_SYMBOL_GPL(rcu_barrier);
