/* Pending signals: the sets and the queues of their siginfo. */
#include <kernel/export.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/cred.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <proc/task_alloc.h>
#include <sched/current.h>
#include <sched/spinlock.h>

struct sigqueue {
	struct list_head list;	  /* [S of who it is for] */
	struct user_struct *user; /* who it counts for, with a reference */
	struct siginfo info;
};
static struct kmem_cache *sigqueue_cache;

/* Faults come first: their handler must see the registers of the instruction that faulted, not of another
 * handler. */
#define SYNCHRONOUS \
	(sigmask(SIGSEGV) | sigmask(SIGBUS) | sigmask(SIGILL) | sigmask(SIGTRAP) | sigmask(SIGFPE) | sigmask(SIGSYS))

void signals_init(void)
{
	sigqueue_cache = kmem_cache_create("sigqueue", sizeof(struct sigqueue), 0, SLAB_PANIC, NULL);
}

/* Counted for t's user, against t's limit unless it is overridden: the limit of who gets it, not of who sends it. */
static struct sigqueue *sigqueue_alloc(struct task_struct *t, bool override)
{
	struct user_struct *user = get_task_user(t);
	u64 limit = READ_ONCE(t->signal->rlim[RLIMIT_SIGPENDING][0]);
	struct sigqueue *q = NULL;

	if ((u64)atomic_inc_return(&user->sigpending) <= limit || override)
		q = kmem_cache_alloc(sigqueue_cache, GFP_ATOMIC);
	if (q) {
		q->user = user;
		return q;
	}
	atomic_dec(&user->sigpending);
	put_user_struct(user);
	return NULL;
}

static void sigqueue_free(struct sigqueue *q)
{
	list_del(&q->list);
	atomic_dec(&q->user->sigpending);
	put_user_struct(q->user);
	kmem_cache_free(sigqueue_cache, q);
}

enum signal_result sigqueue_add(struct task_struct *t, struct sigpending *pending, int sig, const struct siginfo *info)
{
	enum signal_result result = SIGNAL_DELIVERED;
	struct sigqueue *q;

	/* Standard signals do not queue: the first one's info stays. */
	if (sig < SIGRTMIN && (pending->signal & sigmask(sig)))
		return SIGNAL_ALREADY_PENDING;
	if (sig != SIGKILL) { /* nobody gets to see its info */
		/* The kernel's and kill's standard signals are one each: no limit keeps their siginfo away. */
		q = sigqueue_alloc(t, sig < SIGRTMIN && info->si_code >= 0);
		if (q) {
			q->info = *info;
			list_add_tail(&q->list, &pending->list);
		} else if (sig >= SIGRTMIN && info->si_code < 0) {
			return SIGNAL_OVERFLOW; /* sigqueue(3) promises the value; kill(2) only the signal */
		} else {
			result = SIGNAL_LOSE_INFO;
		}
	}
	pending->signal |= sigmask(sig);
	return result;
}

void sigqueue_remove(struct sigpending *pending, sigset_t set)
{
	struct sigqueue *q, *next;

	if (!(pending->signal & set))
		return;
	pending->signal &= ~set;
	list_for_each_entry_safe(q, next, &pending->list, list)
		if (sigmask(q->info.si_signo) & set)
			sigqueue_free(q);
}

void flush_sigqueue(struct sigpending *pending)
{
	sigqueue_remove(pending, ~0UL);
}

/* Move the first entry of `sig` out; the bit stays when there is another. */
static void collect_signal(struct sigpending *pending, int sig, struct siginfo *info)
{
	struct sigqueue *q, *next, *first = NULL;
	bool more = false;

	list_for_each_entry_safe(q, next, &pending->list, list) {
		if (q->info.si_signo != sig)
			continue;
		if (first) {
			more = true;
			break;
		}
		first = q;
	}
	if (!more)
		pending->signal &= ~sigmask(sig);
	if (first) {
		*info = first->info;
		sigqueue_free(first);
	} else { /* there was no memory for it */
		memset(info, 0, sizeof(*info));
		info->si_signo = sig;
	}
}

static int next_pending_signal(const struct sigpending *pending, sigset_t mask)
{
	sigset_t set = pending->signal & ~mask;

	if (!set)
		return 0;
	return __builtin_ctzl(set & SYNCHRONOUS ? set & SYNCHRONOUS : set) + 1;
}

int dequeue_signal(sigset_t mask, struct siginfo *info)
{
	struct sigpending *pending = &current->pending;
	int sig = next_pending_signal(pending, mask);

	if (!sig) {
		pending = &current->signal->shared_pending;
		sig = next_pending_signal(pending, mask);
	}
	if (!sig)
		return 0;
	collect_signal(pending, sig, info);
	if (sigmask(sig) & SIG_KERNEL_STOP)
		current->signal->stop_dequeued = true;
	if (sig == SIGALRM)
		posixtimer_rearm_itimer();
	recalc_sigpending();
	return sig;
}
EXPORT_SYMBOL(dequeue_signal);

/* Only current may clear its flag: another task's view of our mask could be old. */
void recalc_sigpending(void)
{
	struct signal_struct *sig = current->signal;

	if (((current->pending.signal | sig->shared_pending.signal) & ~current->blocked) || sig->stopped ||
	    sig->cld_notify || (sig->group_exec && sig->group_exec != current))
		set_tsk_thread_flag(current, TIF_SIGPENDING);
	else
		clear_tsk_thread_flag(current, TIF_SIGPENDING);
}

bool fatal_signal_pending(struct task_struct *t)
{
	return signal_pending(t) && (READ_ONCE(t->pending.signal) & sigmask(SIGKILL));
}
EXPORT_SYMBOL(fatal_signal_pending);
