/*
 * Pending signals. Each thread has a queue of its own (task->pending), and each process has one for signals to any of
 * its threads (signal->shared_pending). A queue is two things: a set with one bit for each signal, and a list of
 * siginfo.
 *
 * The bit is what counts: a signal whose siginfo found no memory is still delivered, without details. Standard
 * signals are pending at most once. Real-time signals queue, so their bit stays until the last entry is taken.
 *
 * Locks: siglock of the process the queue belongs to [S]. Senders may be interrupts, so memory is GFP_ATOMIC.
 */
#include <kernel/export.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/cred.h>
#include <proc/resource.h>
#include <proc/signal.h>
#include <proc/task_alloc.h>
#include <proc/task_part.h>
#include <sched/current.h>
#include <sched/spinlock.h>

struct sigqueue {
	struct list_head list;	    /* [S] in its queue; empty: a timer's that is in none */
	struct user_struct *user;   /* whose limit it counts for, with a reference */
	struct k_itimer *timer;	    /* [I] it is this timer's and used again and again; NULL: freed when it is taken */
	struct sigpending *pending; /* [S] a timer's: the queue it is in */
	struct siginfo info;
};
static struct kmem_cache *sigqueue_cache;

/*
 * Signals of faults are taken first. Their handlers look at the registers of the instruction that faulted. If another
 * signal's frame were built first, they would find the first instruction of that handler instead.
 */
#define SYNCHRONOUS \
	(sigmask(SIGSEGV) | sigmask(SIGBUS) | sigmask(SIGILL) | sigmask(SIGTRAP) | sigmask(SIGFPE) | sigmask(SIGSYS))

void signals_init(void)
{
	sigqueue_cache = kmem_cache_create("sigqueue", sizeof(struct sigqueue), 0, SLAB_PANIC, NULL);
}

/*
 * An entry, counted for the user of the task that gets the signal, against that task's RLIMIT_SIGPENDING. `override`:
 * the limit does not apply. The count is raised before the comparison, so that two senders cannot share the last
 * place. NULL: over the limit, or no memory.
 */
static struct sigqueue *sigqueue_alloc(struct task_struct *t, bool override)
{
	struct user_struct *user = get_task_user(t);
	u64 limit = READ_ONCE(t->signal->rlim[RLIMIT_SIGPENDING][0]);
	struct sigqueue *q = NULL;

	if ((u64)atomic_inc_return(&user->sigpending) <= limit || override)
		q = kmem_cache_alloc(sigqueue_cache, GFP_ATOMIC);
	if (q) {
		INIT_LIST_HEAD(&q->list);
		q->user = user;
		q->timer = NULL;
		return q;
	}
	atomic_dec(&user->sigpending);
	put_user_struct(user);
	return NULL;
}

/* Give an entry that is in no queue back, with its count. Any context. */
void sigqueue_free(struct sigqueue *q)
{
	atomic_dec(&q->user->sigpending);
	put_user_struct(q->user);
	kmem_cache_free(sigqueue_cache, q);
}

/*
 * Take an entry off its queue. If it is a timer's, the timer is told, with the siginfo that the signal's taker gets
 * (NULL: no task takes it). [S]
 */
static void sigqueue_leave(struct sigqueue *q, struct siginfo *info)
{
	list_del_init(&q->list);
	if (q->timer)
		task_parts_timer_taken(q->timer, info);
	else
		sigqueue_free(q);
}

/*
 * The entry of a timer (timer_create(2)) is allocated with the timer, so that its signal is never lost. It counts for
 * the user of current, as one that is pending does. NULL: over the limit, or no memory. Thread context.
 */
struct sigqueue *sigqueue_alloc_timer(struct k_itimer *timer)
{
	struct sigqueue *q = sigqueue_alloc(current, false);

	if (q)
		q->timer = timer;
	return q;
}

/* As sigqueue_add() for a timer's entry. Several timers may send one standard signal: each is taken by itself. [S] */
void sigqueue_add_timer(struct sigqueue *q, struct sigpending *pending, const struct siginfo *info)
{
	q->info = *info;
	q->pending = pending;
	list_add_tail(&q->list, &pending->list);
	pending->signal |= sigmask(info->si_signo);
}

/* The signal of a timer that is set again or deleted is not wanted any more, if it is pending. [S] */
void sigqueue_take_back(struct sigqueue *q)
{
	struct sigqueue *other;

	if (list_empty(&q->list))
		return;
	list_del_init(&q->list);
	list_for_each_entry(other, &q->pending->list, list)
		if (other->info.si_signo == q->info.si_signo)
			return;
	q->pending->signal &= ~sigmask(q->info.si_signo);
}

/*
 * Signals of kill(2) and of the kernel get their siginfo whatever the limit says: each can be pending only once, so
 * they are few.
 */
enum signal_result sigqueue_add(struct task_struct *t, struct sigpending *pending, int sig, const struct siginfo *info)
{
	enum signal_result result = SIGNAL_DELIVERED;
	struct sigqueue *q;

	/* Standard signals do not queue: the siginfo of the first one stays. */
	if (sig < SIGRTMIN && (pending->signal & sigmask(sig)))
		return SIGNAL_ALREADY_PENDING;
	if (sig != SIGKILL) { /* no handler can look at the siginfo of SIGKILL */
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

/* The bits and the entries go together, so that no entry is left without its bit. */
void sigqueue_remove(struct sigpending *pending, sigset_t set)
{
	struct sigqueue *q, *next;

	if (!(pending->signal & set))
		return;
	pending->signal &= ~set;
	list_for_each_entry_safe(q, next, &pending->list, list)
		if (sigmask(q->info.si_signo) & set)
			sigqueue_leave(q, NULL);
}

void flush_sigqueue(struct sigpending *pending)
{
	sigqueue_remove(pending, ~0UL);
}

/*
 * Take the first entry of `sig` out of the queue. The bit stays if there is another entry, else it goes. Without an
 * entry (there was no memory for one) the siginfo says no more than the number. [S]
 */
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
		sigqueue_leave(first, info);
	} else { /* there was no memory for it */
		memset(info, 0, sizeof(*info));
		info->si_signo = sig;
	}
}

/* The lowest pending signal that `mask` does not block, those of faults first; 0: there is none. */
static int next_pending_signal(const struct sigpending *pending, sigset_t mask)
{
	sigset_t set = pending->signal & ~mask;

	if (!set)
		return 0;
	return __builtin_ctzl(set & SYNCHRONOUS ? set & SYNCHRONOUS : set) + 1;
}

/*
 * A stop signal is remembered in stop_dequeued until the stop begins, because start_group_stop() has to release
 * siglock in between. SIGALRM winds up a repeating timer only now, when its signal is taken: a program that does not
 * keep up gets fewer signals and not an endless stream.
 */
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

/*
 * Set or clear TIF_SIGPENDING by what there is. Only the task itself may clear its flag. Others only set it: their
 * view of its mask may be old, and a flag too many costs one look, while a missing one would lose a signal.
 */
void recalc_sigpending(void)
{
	struct signal_struct *sig = current->signal;

	if (((current->pending.signal | sig->shared_pending.signal) & ~current->blocked) ||
	    (current->jobctl & JOB_PENDING) || sig->cld_notify || (sig->group_exec && sig->group_exec != current))
		set_tsk_thread_flag(current, TIF_SIGPENDING);
	else
		clear_tsk_thread_flag(current, TIF_SIGPENDING);
}

/*
 * A fatal signal has been turned into a pending SIGKILL by complete_signal(), so one bit answers the question. No
 * lock: a signal that comes a moment later sets the flag and wakes the task.
 */
bool fatal_signal_pending(struct task_struct *t)
{
	return signal_pending(t) && (READ_ONCE(t->pending.signal) & sigmask(SIGKILL));
}
EXPORT_SYMBOL(fatal_signal_pending);
