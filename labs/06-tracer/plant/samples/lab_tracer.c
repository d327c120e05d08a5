/*
 * What lab tracer is graded with: takes mutexes, and notes by its own look at the clock how long it has waited for them
 * and held them. Words written to debugfs's lab/mutex are done one after the other, by the task that writes them:
 *
 *	lN iN tN	take mutex N by mutex_lock(), mutex_lock_interruptible(), mutex_trylock()
 *	uN		let it go, if this task has it, and note the hold
 *	wN sN		run for N microseconds; sleep for N milliseconds
 *	eN gN		wait for event N; let it happen
 *	cN		note the nanoseconds of so many pairs of taking and letting go of mutex 0
 *
 * Mutexes below NR_STATIC are a variable, the others are allocated. Reading shows the notes:
 *
 *	hold PID MUTEX FUNCTION WAIT HELD	in the order in which they were let go
 *	miss PID MUTEX FUNCTION			it was not taken
 *	cost NS
 */
#include <fs/libfs.h>
#include <kernel/init.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <sched/wait.h>
#include <time/clock.h>
#include <time/jiffies.h>

#define NR_STATIC  16
#define NR_MUTEXES 64
#define NR_NOTES   1024

struct place {
	struct mutex mutex;
	/* The thread that has the mutex. */
	const struct task_struct *owner;
	const char *function;
	u64 asked, taken;
};
static struct place lab_mutexes[NR_STATIC];
static struct place *places[NR_MUTEXES];

struct note {
	char what;
	pid_t pid;
	const struct place *place;
	const char *function;
	u64 wait, held;
};
static struct note notes[NR_NOTES];
static unsigned nr_notes; /* [a] */
static unsigned long events;
static DECLARE_WAIT_QUEUE_HEAD(event_queue);

static void note(char what, const struct place *p, const char *function, u64 wait, u64 held)
{
	unsigned at = __atomic_fetch_add(&nr_notes, 1, __ATOMIC_RELAXED);

	if (at < NR_NOTES)
		notes[at] = (struct note){what, current->pid, p, function, wait, held};
}

/* Three callers, which the tracer must name. The barrier keeps the call from being a jump. */
static int noinline lab_lock(struct mutex *m)
{
	mutex_lock(m);
	barrier();
	return 0;
}

static int noinline lab_interruptible(struct mutex *m)
{
	int ret = mutex_lock_interruptible(m);

	barrier();
	return ret;
}

static int noinline lab_trylock(struct mutex *m)
{
	bool got = mutex_trylock(m);

	barrier();
	return got ? 0 : -EBUSY;
}

static void take(struct place *p, int (*how)(struct mutex *m), const char *name)
{
	u64 asked = sched_clock();

	if (how(&p->mutex)) {
		note('m', p, name, 0, 0);
		return;
	}
	p->taken = sched_clock();
	p->asked = asked;
	p->owner = current;
	p->function = name;
}

static void give(struct place *p)
{
	if (p->owner != current)
		return;
	note('h', p, p->function, p->taken - p->asked, sched_clock() - p->taken);
	p->owner = NULL;
	mutex_unlock(&p->mutex);
}

static void cost(unsigned n)
{
	u64 begin = sched_clock();

	for (unsigned i = 0; i < n; i++) {
		mutex_lock(&lab_mutexes[0].mutex);
		mutex_unlock(&lab_mutexes[0].mutex);
	}
	note('c', NULL, NULL, sched_clock() - begin, 0);
}

static void happen(unsigned n)
{
	__atomic_fetch_or(&events, 1UL << n, __ATOMIC_SEQ_CST);
	wake_up_all(&event_queue);
}

static void run_for(unsigned us)
{
	u64 until = sched_clock() + us * 1000ULL;

	while (sched_clock() < until)
		;
}

static int step(char what, unsigned n)
{
	struct place *p = n < NR_MUTEXES ? places[n] : NULL;

	if (strchr("lituge", what) && !p)
		return -EINVAL;
	if (what == 'l')
		take(p, lab_lock, "lab_lock");
	else if (what == 'i')
		take(p, lab_interruptible, "lab_interruptible");
	else if (what == 't')
		take(p, lab_trylock, "lab_trylock");
	else if (what == 'u')
		give(p);
	else if (what == 'w')
		run_for(n);
	else if (what == 's')
		msleep(n);
	else if (what == 'e')
		wait_event(&event_queue, READ_ONCE(events) & 1UL << n);
	else if (what == 'g')
		happen(n);
	else if (what == 'c')
		cost(n);
	else
		return -EINVAL;
	return 0;
}

static int lab_store(char *text, void *data)
{
	char *word;
	int ret = 0;

	while (!ret && (word = strsep(&text, " "))) {
		unsigned n;

		ret = *word ? kstrtouint(word + 1, 10, &n) ?: step(*word, n) : 0;
	}
	return ret;
}

static int lab_show(struct seq_file *m, void *data)
{
	for (unsigned i = 0; i < min(nr_notes, (unsigned)NR_NOTES); i++) {
		const struct note *n = &notes[i];

		if (n->what == 'c')
			seq_printf(m, "cost %llu\n", (unsigned long long)n->wait);
		else if (n->what == 'm')
			seq_printf(m, "miss %d %pS %s\n", n->pid, &n->place->mutex, n->function);
		else
			seq_printf(m, "hold %d %pS %s %llu %llu\n", n->pid, &n->place->mutex, n->function,
				   (unsigned long long)n->wait, (unsigned long long)n->held);
	}
	return 0;
}

static const struct text_kind lab_kind = {.max = 3000};
static const struct text_file lab_file = {
	.path = "lab/mutex", .mode = 0600, .show = lab_show, .store = lab_store, .kind = &lab_kind};
REGISTER_DEBUGFS(lab_file);

static int lab_init(void)
{
	for (unsigned i = 0; i < NR_MUTEXES; i++) {
		places[i] = i < NR_STATIC ? &lab_mutexes[i] : kzalloc(sizeof(struct place), GFP_KERNEL);
		if (!places[i])
			return -ENOMEM;
		mutex_init(&places[i]->mutex);
	}
	return 0;
}
late_initcall(lab_init);
