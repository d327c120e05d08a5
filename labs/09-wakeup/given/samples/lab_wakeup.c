/*
 * Threads for lab wakeup that do what they are told, and note when. Files of debugfs's lab/:
 *
 *	thread	"a 0 39 l0 300 u0": the thread lab_a, on CPU 0, has priority 39 of the kernel's scale (0 to 98 FIFO 99
 *		to 1, 100 to 139 nice -20 to 19), and does these words each time that it is woken. Letters a to h.
 *	go	"a b": wakes these, and waits until no thread has anything left to do
 *	late	"120": from now on 120 microseconds pass between the tracepoint sched_waking of one of these threads and
 *		what comes next of its wake-up; only the first write counts
 *	log	the notes of the last go: thread, word, result, begin and end (ns of sched_clock); z*, c* for any number
 *
 * Words:
 *
 *	300		run for 300 microseconds, not counting what others run meanwhile
 *	z300		sleep for 300 microseconds
 *	wb		wake lab_b
 *	l0 i0 t0 u0	mutex 0: mutex_lock, _lock_interruptible, _trylock (result 1: not taken), _unlock; or 1 to 7
 *	kb		a signal for lab_b: ends the wait of an i
 *	pb39		lab_b gets the priority 39 as its own
 *	?b		the result is the priority that lab_b has at this moment (task_struct's prio)
 *	( )		disable and enable preemption
 *	c1000		lock and unlock mutex 7 a thousand times
 */
#include <fs/libfs.h>
#include <kernel/init.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <time/clock.h>
#include <time/jiffies.h>
#include <trace/events/sched.h>

#define NR_THREADS  8
#define NR_MUTEXES  8
#define NR_NOTES    1024
#define TEXT_MAX    800
#define GO_SECONDS  2
#define INTERRUPTED 8000 /* ns between two looks at the clock: somebody else has run */

struct lab_thread {
	struct task_struct *task;
	int prio; /* own, when it was told what to do */
	char program[TEXT_MAX];
	int wakes; /* [a] */
	int runs;  /* [the thread] complete ones */
};
static struct lab_thread threads[NR_THREADS];
static struct mutex lab_mutexes[NR_MUTEXES];

struct note {
	char who, what;
	unsigned arg;
	long result;
	u64 begin, end;
};
static struct note notes[NR_NOTES];
static unsigned nr_notes; /* [a] */
static u64 late_ns;	  /* before the probe is there */

static noinline void lab_run(u64 ns)
{
	u64 last = sched_clock(), used = 0;

	while (used < ns) {
		u64 now = sched_clock();

		if (now - last < INTERRUPTED)
			used += now - last;
		last = now;
	}
}

static void set_prio(struct task_struct *p, int prio)
{
	if (prio < MAX_RT_PRIO - 1)
		sched_set_fifo_priority(p, MAX_RT_PRIO - 1 - prio);
	else
		sched_set_normal(p, prio - DEFAULT_PRIO);
}

static void lab_wake(struct lab_thread *t)
{
	__atomic_fetch_add(&t->wakes, 1, __ATOMIC_SEQ_CST);
	wake_up_process(t->task);
}

static void lab_signal(struct task_struct *p)
{
	set_tsk_thread_flag(p, TIF_SIGPENDING);
	wake_up_state(p, TASK_INTERRUPTIBLE);
}

static long lab_interruptible(struct mutex *m)
{
	long ret = mutex_lock_interruptible(m);

	if (ret)
		clear_tsk_thread_flag(current, TIF_SIGPENDING);
	return ret;
}

static void many_locks(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		mutex_lock(&lab_mutexes[NR_MUTEXES - 1]);
		mutex_unlock(&lab_mutexes[NR_MUTEXES - 1]);
	}
}

/* One word; `n` is the number in it, `t` the thread. */
static long lab_do(char what, struct lab_thread *t, unsigned n)
{
	struct mutex *m = &lab_mutexes[n % NR_MUTEXES];

	switch (what) {
	case 'l':
		mutex_lock(m);
		return 0;
	case 'i':
		return lab_interruptible(m);
	case 't':
		return !mutex_trylock(m);
	case 'u':
		mutex_unlock(m);
		return 0;
	case 'w':
		lab_wake(t);
		return 0;
	case 'k':
		lab_signal(t->task);
		return 0;
	case 'p':
		set_prio(t->task, n);
		return 0;
	case '?':
		return READ_ONCE(t->task->prio);
	case 'z':
		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_timeout_ns(n * 1000L);
		return 0;
	case 'c':
		many_locks(n);
		return 0;
	}
	return -EINVAL;
}

static void lab_note(struct lab_thread *t, char what, unsigned arg, long result, u64 begin)
{
	unsigned at = __atomic_fetch_add(&nr_notes, 1, __ATOMIC_RELAXED);

	if (at < NR_NOTES)
		notes[at] = (struct note){'a' + (t - threads), what, arg, result, begin, sched_clock()};
}

static struct lab_thread *thread_of(char letter)
{
	unsigned n = letter - 'a';

	return n < NR_THREADS && threads[n].task ? &threads[n] : NULL;
}

static unsigned number(const char **s)
{
	unsigned n = 0;

	while (**s >= '0' && **s <= '9')
		n = n * 10 + *(*s)++ - '0';
	return n;
}

/* The word at *s, which has a first letter that is no digit. */
static void lab_word(struct lab_thread *me, const char **s)
{
	char what = *(*s)++;
	struct lab_thread *t = NULL;
	u64 begin = sched_clock();
	unsigned arg = 0;
	long result;

	if (strchr("wkp?", what)) {
		t = thread_of(**s);
		arg = *(*s)++;
	}
	if (!t)
		arg = number(s);
	result = strchr("wkp?", what) && !t ? -ESRCH : lab_do(what, t, t ? number(s) : arg);
	lab_note(me, what, arg, result, begin);
}

/* ( and ) make no note: preemption stays off between them, and on outside. */
static void run_program(struct lab_thread *t)
{
	u64 begin = sched_clock();
	const char *s = t->program;

	while (*s) {
		if (*s >= '0' && *s <= '9')
			lab_run(number(&s) * 1000ULL);
		else if (*s == '(')
			preempt_disable();
		else if (*s == ')')
			preempt_enable();
		else if (*s != ' ') {
			lab_word(t, &s);
			continue;
		}
		s += *s == '(' || *s == ')' || *s == ' ';
	}
	clear_tsk_thread_flag(current, TIF_SIGPENDING);
	lab_note(t, 'e', 0, current->prio, begin);
}

static int lab_thread_main(void *data)
{
	struct lab_thread *t = data;

	for (;;) {
		set_current_state(TASK_IDLE);
		if (t->runs == READ_ONCE(t->wakes)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		run_program(t);
		WRITE_ONCE(t->runs, t->runs + 1);
	}
	return 0;
}

/* "LETTER CPU PRIO PROGRAM" */
static int thread_store(char *text, void *data)
{
	char *who = strsep(&text, " "), *word = strsep(&text, " "), *prio = strsep(&text, " ");
	struct lab_thread *t = &threads[(unsigned)(who[0] - 'a') % NR_THREADS];
	unsigned cpu;

	if (!prio || kstrtouint(word, 10, &cpu) || kstrtoint(prio, 10, &t->prio) || t->prio < 0 || t->prio >= MAX_PRIO)
		return -EINVAL;
	strscpy(t->program, text ?: "", sizeof(t->program));
	if (!t->task) {
		struct task_struct *p = kthread_create_on_cpu(lab_thread_main, t, cpu, "lab_%c", who[0]);

		if (IS_ERR(p))
			return PTR_ERR(p);
		t->task = p;
		wake_up_process(p);
	}
	set_prio(t->task, t->prio);
	return 0;
}

static bool all_done(void)
{
	for (unsigned i = 0; i < NR_THREADS; i++)
		if (READ_ONCE(threads[i].runs) != READ_ONCE(threads[i].wakes))
			return false;
	return true;
}

static int go_store(char *text, void *data)
{
	u64 until = sched_clock() + GO_SECONDS * NSEC_PER_SEC;

	nr_notes = 0;
	for (; *text; text++)
		if (thread_of(*text))
			lab_wake(thread_of(*text));
	while (!all_done()) {
		if (sched_clock() > until)
			return -ETIMEDOUT;
		msleep(1);
	}
	return 0;
}

static int log_show(struct seq_file *m, void *data)
{
	for (unsigned i = 0; i < min(nr_notes, NR_NOTES); i++) {
		const struct note *n = &notes[i];

		char arg = strchr("wkp?", n->what) ? n->arg : strchr("zc", n->what) ? '*' : '0' + n->arg % 10;

		seq_printf(m, "lab: %c %c%c %ld %lu %lu\n", n->who, n->what, arg, n->result, n->begin, n->end);
	}
	return 0;
}

static notrace void probe_late(void *data, struct task_struct *p)
{
	if (!strncmp(p->comm, "lab_", 4))
		lab_run(late_ns);
}

static int late_store(char *text, void *data)
{
	unsigned us;

	if (late_ns || kstrtouint(text, 10, &us))
		return -EINVAL;
	late_ns = us * 1000ULL;
	return register_trace_sched_waking(probe_late, NULL);
}

static int lab_wakeup_init(void)
{
	for (unsigned i = 0; i < NR_MUTEXES; i++)
		mutex_init(&lab_mutexes[i]);
	return 0;
}
late_initcall(lab_wakeup_init);

static const struct text_kind lab_text = {.max = TEXT_MAX};
static const struct text_file thread_file = {
	.path = "lab/thread", .mode = 0200, .store = thread_store, .kind = &lab_text};
static const struct text_file go_file = {.path = "lab/go", .mode = 0200, .store = go_store};
static const struct text_file late_file = {.path = "lab/late", .mode = 0200, .store = late_store};
static const struct text_file log_file = {.path = "lab/log", .mode = 0400, .show = log_show};
REGISTER_DEBUGFS(thread_file);
REGISTER_DEBUGFS(go_file);
REGISTER_DEBUGFS(late_file);
REGISTER_DEBUGFS(log_file);
