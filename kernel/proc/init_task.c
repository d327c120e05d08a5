/*
 * The boot CPU's idle task, made by the compiler: the boot code points `current` at it, so C code can run from its
 * first instruction without any allocation. All other tasks are copies of it or of its descendants, so its limits are
 * the defaults of the machine. It never ends: its references are never dropped to zero.
 */
#include <arch/thread.h>
#include <fs/vfs.h>
#include <mm/mm.h>
#include <proc/capability.h>
#include <proc/cred.h>
#include <proc/fork.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <sched/preempt.h>
#include <sched/task.h>
#include <sched/timerslack.h>

static struct sighand_struct init_sighand = {.count = ATOMIC_INIT(1)};

static struct signal_struct init_signals = {
	.sigcnt = ATOMIC_INIT(1),
	.shared_pending = {LIST_HEAD_INIT(init_signals.shared_pending.list), 0},
	.wait_chldexit = __WAIT_QUEUE_HEAD_INIT(init_signals.wait_chldexit),
	.nr_threads = 1,
	.live = 1,
	.leader = &init_task,
	.rlim =
		{
			[RLIMIT_CPU] = {RLIM_INFINITY, RLIM_INFINITY},
			[RLIMIT_FSIZE] = {RLIM_INFINITY, RLIM_INFINITY},
			[RLIMIT_DATA] = {RLIM_INFINITY, RLIM_INFINITY},
			[RLIMIT_STACK] = {STACK_LIMIT, RLIM_INFINITY},
			[RLIMIT_CORE] = {0, RLIM_INFINITY},
			[RLIMIT_RSS] = {RLIM_INFINITY, RLIM_INFINITY},
			/* fork_init() sets NPROC and SIGPENDING by the size of the memory. */
			[RLIMIT_NOFILE] = {1024, 4096},
			[RLIMIT_MEMLOCK] = {8 << 20, 8 << 20},
			[RLIMIT_AS] = {RLIM_INFINITY, RLIM_INFINITY},
			[RLIMIT_LOCKS] = {RLIM_INFINITY, RLIM_INFINITY},
			[RLIMIT_MSGQUEUE] = {819200, 819200},
			[RLIMIT_RTTIME] = {RLIM_INFINITY, RLIM_INFINITY},
		},
};

/*
 * sched_init() sets what the scheduler needs beyond this. Like every task it has two references: one until it is
 * reaped, one of the scheduler. PREEMPT_OFFSET: preemption is off until start_kernel() ends.
 */
struct task_struct init_task = {
	.preempt_count = PREEMPT_OFFSET,
	.flags = PF_IDLE | PF_KTHREAD,
	.stack = init_stack,
	.state = TASK_RUNNING,
	.on_cpu = 1,
	.prio = DEFAULT_PRIO,
	.static_prio = DEFAULT_PRIO,
	.normal_prio = DEFAULT_PRIO,
	.pi_prio = MAX_PRIO,
	.policy = SCHED_NORMAL,
	.timer_slack_ns = DEFAULT_TIMER_SLACK_NS,
	.default_timer_slack_ns = DEFAULT_TIMER_SLACK_NS,
	.cpus_mask = {~0UL},
	.comm = "swapper/0",
	.parent = &init_task,
	.children = LIST_HEAD_INIT(init_task.children),
	.zombies = LIST_HEAD_INIT(init_task.zombies),
	.sibling = LIST_HEAD_INIT(init_task.sibling),
	.tasks = LIST_HEAD_INIT(init_task.tasks),
	.thread_group = LIST_HEAD_INIT(init_task.thread_group),
	.group_leader = &init_task,
	.usage = ATOMIC_INIT(2),
	.rt = {.run_list = LIST_HEAD_INIT(init_task.rt.run_list)},
	.active_mm = &init_mm,
	.files = &init_files,
	.fs = &init_fs,
	.caps = {.permitted = CAP_FULL_SET, .effective = CAP_FULL_SET, .bounding = CAP_FULL_SET},
	.user = &root_user,
	.signal = &init_signals,
	.sighand = &init_sighand,
	.pending = {LIST_HEAD_INIT(init_task.pending.list), 0},
	.ptraced = LIST_HEAD_INIT(init_task.ptraced),
	.ptrace_entry = LIST_HEAD_INIT(init_task.ptrace_entry),
};

/* All processes. The idle tasks are not among them. */
LIST_HEAD(init_tasks);
