/* robusttest: what a task's end does to the locks that it held (robust lists) and to the word of
 * set_tid_address. */
/* also on Linux */
#include <sleepers.h>
#include <signal.h>
#include <sys/mman.h>
#include <thread.h>
#include <sched.h>

#define LIMIT 2048 /* entries of a list that the kernel walks */

/* As set_robust_list(2) has it. */
struct entry {
	struct entry *next;
};
struct head {
	struct entry list;
	long offset;
	struct entry *pending;
};
struct lock {
	futex_t before; /* for a negative offset */
	struct entry entry;
	futex_t word;
};
#define BEHIND ((long)(offsetof(struct lock, word) - offsetof(struct lock, entry)))

enum way { BY_EXIT, BY_EXIT_GROUP, BY_KILL, WAYS };

/* The one that dies. It fills its list by prepare(), says that it is ready, and ends when it is told. */
struct victim {
	void (*prepare)(struct victim *v);
	enum way way;
	struct head head;
	size_t size; /* said to set_robust_list */
	volatile unsigned tid;
	volatile futex_t ready, go;
	pid_t pid;
};

static struct lock locks[LIMIT + 2];
static struct victim victim;
static struct sleeper s[6];

static void wait_for(volatile futex_t *word)
{
	while (!*word)
		futex((futex_t *)word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
}

static void tell(volatile futex_t *word)
{
	*word = 1;
	futex_wake((futex_t *)word, ALL);
}

/* On a thread's stack: no libc that keeps state. */
static void victim_main(void *arg)
{
	struct victim *v = arg;

	vt_syscall(SYS_prctl, 1, SIGKILL, 0, 0, 0, 0);
	v->tid = (unsigned)vt_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	v->head = (struct head){.list = {&v->head.list}, .offset = BEHIND};
	v->prepare(v);
	vt_syscall(SYS_set_robust_list, (long)&v->head, sizeof(v->head), 0, 0, 0, 0);
	tell(&v->ready);
	wait_for(&v->go);
	if (v->way == BY_KILL)
		vt_syscall(SYS_kill, vt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0), SIGKILL, 0, 0, 0, 0);
	vt_syscall(v->way == BY_EXIT ? SYS_exit : SYS_exit_group, 0, 0, 0, 0, 0, 0);
}

static void start_victim(void (*prepare)(struct victim *v), enum way way)
{
	victim = (struct victim){.prepare = prepare, .way = way};
	victim.pid = thread_start(-1, victim_main, &victim);
	word_becomes(&victim.ready, 1);
}

static void end_victim(void)
{
	int status;

	tell(&victim.go);
	status = check_wait(victim.pid);
	CHECK_EQ(status, victim.way == BY_KILL ? SIGKILL : 0);
}

/* As one after the other of the list. */
static void hold(struct victim *v, struct lock *l, futex_t bits)
{
	struct entry *last = &v->head.list;

	while (last->next != &v->head.list)
		last = last->next;
	l->word = v->tid | bits;
	l->entry.next = &v->head.list;
	last->next = &l->entry;
}

static void wait_on(struct sleeper *one, struct lock *l)
{
	*one = (struct sleeper){.word = &l->word, .op = FUTEX_WAIT, .val = l->word};
	sleeper_start(one);
	CHECK(sleeper_sleeps(one));
}

/* Wake the one that waits on, and collect it. */
static void release(struct sleeper *one)
{
	CHECK_EQ(futex(one->word, FUTEX_WAKE, ALL, NULL, NULL, 0), 1);
	CHECK(sleepers_woken(one, 1));
}

/* --- the list --- */

static void prepare_several(struct victim *v)
{
	for (int i = 0; i < 4; i++)
		hold(v, &locks[i], i ? FUTEX_WAITERS : 0);
	locks[2].word = 1 | FUTEX_WAITERS; /* is another's by now */
	locks[4].word = v->tid | FUTEX_WAITERS;
	v->head.pending = &locks[4].entry; /* taken, and not in the list yet */
}

/* However it ends: each of its locks says so and one waiter is told; others' locks are left alone. */
static void several(void)
{
	for (enum way way = 0; way < WAYS; way++) {
		start_victim(prepare_several, way);
		wait_on(&s[0], &locks[1]);
		wait_on(&s[1], &locks[1]);
		wait_on(&s[2], &locks[2]);
		wait_on(&s[3], &locks[3]);
		wait_on(&s[4], &locks[4]);
		wait_on(&s[5], &locks[4]);
		end_victim();
		CHECK_EQ(locks[0].word, FUTEX_OWNER_DIED);
		CHECK_EQ(locks[1].word, FUTEX_OWNER_DIED | FUTEX_WAITERS);
		CHECK_EQ(locks[2].word, 1 | FUTEX_WAITERS);
		CHECK_EQ(locks[3].word, FUTEX_OWNER_DIED | FUTEX_WAITERS);
		CHECK_EQ(locks[4].word, FUTEX_OWNER_DIED | FUTEX_WAITERS);
		CHECK(sleepers_woken(&s[0], 1));
		CHECK(sleepers_woken(&s[3], 1));
		CHECK(sleepers_woken(&s[4], 1));
		CHECK(sleepers_sleep(&s[1], 2));
		CHECK(sleepers_sleep(&s[5], 1));
		release(&s[1]);
		release(&s[2]);
		release(&s[5]);
	}
}

static void prepare_listed_pending(struct victim *v)
{
	hold(v, &locks[0], FUTEX_WAITERS);
	hold(v, &locks[1], FUTEX_WAITERS);
	v->head.pending = &locks[0].entry;
}

/* In the list already, not yet taken off the pending word: done once. */
static void pending_is_listed(void)
{
	start_victim(prepare_listed_pending, BY_EXIT);
	wait_on(&s[0], &locks[0]);
	wait_on(&s[1], &locks[0]);
	wait_on(&s[2], &locks[1]);
	end_victim();
	CHECK_EQ(locks[0].word, FUTEX_OWNER_DIED | FUTEX_WAITERS);
	CHECK_EQ(locks[1].word, FUTEX_OWNER_DIED | FUTEX_WAITERS);
	CHECK(sleepers_woken(&s[0], 1));
	CHECK(sleepers_woken(&s[2], 1));
	CHECK(sleepers_sleep(&s[1], 1));
	release(&s[1]);
}

static futex_t free_word;

static void prepare_free(struct victim *v)
{
	hold(v, &locks[0], 0);
	hold(v, &locks[1], 0);
	locks[0].word = locks[1].word = locks[2].word = free_word;
	v->head.pending = &locks[1].entry;
}

/*
 * It let the lock go and died before it woke anybody, or was woken and died before it took it: the pending
 * lock has no owner, and its next waiter must be told. The word stays. A free lock in the list is a forgotten
 * one, no more.
 */
static void pending_is_free(void)
{
	static const futex_t words[] = {0, FUTEX_WAITERS, FUTEX_WAITERS | FUTEX_OWNER_DIED};

	for (int i = 0; i < 3; i++) {
		free_word = words[i];
		start_victim(prepare_free, BY_KILL);
		wait_on(&s[0], &locks[0]);
		wait_on(&s[1], &locks[1]);
		wait_on(&s[2], &locks[1]);
		end_victim();
		CHECK_EQ(locks[0].word, words[i]);
		CHECK_EQ(locks[1].word, words[i]);
		CHECK(sleepers_woken(&s[1], 1));
		CHECK(sleepers_sleep(&s[0], 1));
		CHECK(sleepers_sleep(&s[2], 1));
		release(&s[0]);
		release(&s[2]);
	}
}

static void prepare_foreign_pending(struct victim *v)
{
	locks[0].word = 1 | FUTEX_WAITERS;
	v->head.pending = &locks[0].entry;
}

static void pending_is_anothers(void)
{
	start_victim(prepare_foreign_pending, BY_EXIT);
	wait_on(&s[0], &locks[0]);
	end_victim();
	CHECK_EQ(locks[0].word, 1 | FUTEX_WAITERS);
	CHECK(sleepers_sleep(&s[0], 1));
	release(&s[0]);
}

static void prepare_negative(struct victim *v)
{
	v->head.offset = (long)offsetof(struct lock, before) - (long)offsetof(struct lock, entry);
	hold(v, &locks[0], FUTEX_WAITERS);
	locks[0].before = v->tid;
}

static void negative_offset(void)
{
	start_victim(prepare_negative, BY_EXIT);
	end_victim();
	CHECK_EQ(locks[0].before, FUTEX_OWNER_DIED);
	CHECK_EQ(locks[0].word, victim.tid | FUTEX_WAITERS);
}

/* --- lists that are wrong --- */

static void prepare_circle(struct victim *v)
{
	hold(v, &locks[0], 0);
	hold(v, &locks[1], 0);
	locks[1].entry.next = &locks[0].entry;
	locks[2].word = v->tid;
	v->head.pending = &locks[2].entry;
}

static void circle(void)
{
	start_victim(prepare_circle, BY_EXIT);
	end_victim();
	for (int i = 0; i < 3; i++)
		CHECK_EQ(locks[i].word, FUTEX_OWNER_DIED);
}

static void prepare_long(struct victim *v)
{
	for (int i = 0; i < LIMIT + 1; i++) {
		locks[i].word = v->tid;
		locks[i].entry.next = i < LIMIT ? &locks[i + 1].entry : &v->head.list;
	}
	v->head.list.next = &locks[0].entry;
}

static void too_long(void)
{
	start_victim(prepare_long, BY_EXIT);
	end_victim();
	for (int i = 0; i < LIMIT; i++)
		if (locks[i].word != FUTEX_OWNER_DIED) {
			CHECK_EQ(i, LIMIT);
			break;
		}
	CHECK_EQ(locks[LIMIT].word, victim.tid);
}

static struct lock *gap; /* memory that is not there */
static int fault;

/* The second of three is wrong: by its address, its alignment, its next. */
static void prepare_wrong(struct victim *v)
{
	for (int i = 0; i < 3; i++)
		hold(v, &locks[i], 0);
	locks[3].word = v->tid;
	v->head.pending = &locks[3].entry;
	if (fault == 0)
		locks[0].entry.next = &gap->entry;
	else if (fault == 1)
		locks[0].entry.next = (struct entry *)((char *)&locks[1].entry + 2);
	else
		locks[1].entry.next = &gap->entry;
}

/* What stands before the fault is done; what comes behind it is not to be believed, the pending lock neither.
 */
static void wrong_entries(void)
{
	gap = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK_EQ(munmap(gap, 4096), 0);
	for (fault = 0; fault < 3; fault++) {
		start_victim(prepare_wrong, BY_EXIT);
		end_victim();
		CHECK_EQ(locks[0].word, FUTEX_OWNER_DIED);
		CHECK_EQ(locks[1].word, fault == 2 ? FUTEX_OWNER_DIED : victim.tid);
		CHECK_EQ(locks[2].word, victim.tid);
		CHECK_EQ(locks[3].word, victim.tid);
	}
}

static void registering(void)
{
	struct head h = {.list = {&h.list}};

	CHECK_ERRNO(CALL(set_robust_list, &h, sizeof(h) - 1), EINVAL);
	CHECK_ERRNO(CALL(set_robust_list, &h, sizeof(h) + 8), EINVAL);
	CHECK_ERRNO(CALL(set_robust_list, &h, 0), EINVAL);
	CHECK_CALL(CALL(set_robust_list, 8, sizeof(h))); /* is looked at when the task ends */
	CHECK_CALL(CALL(set_robust_list, 0, sizeof(h)));
}

/* --- other ends --- */

struct shared {
	struct head head;
	struct lock lock;
	struct sleeper sleeper;
};

static struct shared *shared_lock(void)
{
	struct shared *sh = (struct shared *)shared_words(1024);

	sh->head = (struct head){.list = {&sh->lock.entry}, .offset = BEHIND};
	sh->lock.entry.next = &sh->head.list;
	return sh;
}

/* A list is its task's alone: a child has none, even if the words named it. */
static void fork_has_none(void)
{
	struct shared *sh = shared_lock();
	pid_t pid;

	CHECK_CALL(CALL(set_robust_list, &sh->head, sizeof(sh->head)));
	pid = check_fork();
	if (pid == 0) {
		sh->lock.word = (futex_t)getpid();
		_exit(0);
	}
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(sh->lock.word, pid);
	CHECK_CALL(CALL(set_robust_list, 0, sizeof(sh->head)));
}

/* A new program has none of the old one's locks, though the process lives on. */
static void exec_ends_them(void)
{
	static char *argv[] = {"robusttest", "sleep", NULL};
	struct shared *sh = shared_lock();
	pid_t pid = check_fork();

	if (pid == 0) {
		CALL(set_robust_list, &sh->head, sizeof(sh->head));
		CALL(prctl, 1, SIGKILL);
		__atomic_store_n(&sh->lock.word, (futex_t)getpid() | FUTEX_WAITERS, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&sh->lock.before, __ATOMIC_SEQ_CST) == 0)
			check_sleep(200000);
		CALL(execve, "/proc/self/exe", argv, 0);
		_exit(1);
	}
	word_becomes(&sh->lock.word, (futex_t)pid | FUTEX_WAITERS);
	sh->sleeper = (struct sleeper){.word = &sh->lock.word, .op = FUTEX_WAIT, .val = sh->lock.word, .forked = true};
	sleeper_start(&sh->sleeper);
	CHECK(sleepers_sleep(&sh->sleeper, 1));
	__atomic_store_n(&sh->lock.before, 1, __ATOMIC_SEQ_CST);
	CHECK(sleepers_woken(&sh->sleeper, 1));
	CHECK_EQ(sh->lock.word, FUTEX_OWNER_DIED | FUTEX_WAITERS);
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(check_wait(pid), SIGKILL);
}

/* --- set_tid_address --- */

static volatile futex_t tid_word, may_end;
static volatile long answer;

static void with_tid_address(void *arg)
{
	tid_word = 5;
	answer = vt_syscall(SYS_set_tid_address, (long)&tid_word, 0, 0, 0, 0, 0);
	tell(&victim.ready);
	wait_for(&may_end);
}

/* The word becomes 0 and one waiter is woken, as pthread_join() needs it. */
static void tid_is_cleared(void)
{
	pid_t pid = thread_start(-1, with_tid_address, NULL);

	word_becomes(&victim.ready, 1);
	CHECK_EQ(answer, pid);
	for (int i = 0; i < 2; i++) {
		s[i] = (struct sleeper){.word = (futex_t *)&tid_word, .op = FUTEX_WAIT, .val = 5};
		sleeper_start(&s[i]);
	}
	CHECK(sleepers_sleep(s, 2));
	tell(&may_end);
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(tid_word, 0);
	CHECK(sleepers_woken(s, 1));
	CHECK(sleepers_sleep(s + 1, 1));
	release(&s[1]);
}

/* The last user of an address space clears nothing, since there is nobody to join it. */
static void tid_of_the_last(void)
{
	futex_t *word = shared_words(1);
	pid_t pid;

	*word = 5;
	pid = check_fork();
	if (pid == 0) {
		CALL(set_tid_address, word);
		_exit(0);
	}
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(*word, 5);
}

static long clone_with_tid(futex_t *word)
{
	const long flags = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;

#ifdef __aarch64__
	return vt_syscall(SYS_clone, flags, 0, 0, 0, (long)word, 0);
#else
	return vt_syscall(SYS_clone, flags, 0, 0, (long)word, 0, 0);
#endif
}

/* Ends by itself at last, whatever becomes of the test. */
static void outlive(void *arg)
{
	static const struct timespec patience = {.tv_sec = 10};

	futex(arg, FUTEX_WAIT, 0, &patience, NULL, 0);
}

/* The same asked for by clone(): the child has another task in its memory, so that somebody is there to be
 * told. */
static void tid_of_clone(void)
{
	futex_t *words = shared_words(4);
	pid_t pid;

	fflush(stdout);
	pid = (pid_t)clone_with_tid(words);
	if (pid == 0) {
		words[1] = words[0];
		thread_start(-1, outlive, words + 2);
		vt_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
	}
	CHECK(pid > 0);
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(words[1], pid);
	CHECK_EQ(words[0], 0);
	words[2] = 1;
	futex(words + 2, FUTEX_WAKE, ALL, NULL, NULL, 0);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"several", several},
		{"pending-is-listed", pending_is_listed},
		{"pending-is-free", pending_is_free},
		{"pending-is-anothers", pending_is_anothers},
		{"negative-offset", negative_offset},
		{"circle", circle},
		{"too-long", too_long},
		{"wrong-entries", wrong_entries},
		{"registering", registering},
		{"fork-has-none", fork_has_none},
		{"exec-ends-them", exec_ends_them},
		{"tid-is-cleared", tid_is_cleared},
		{"tid-of-the-last", tid_of_the_last},
		{"tid-of-clone", tid_of_clone},
	};

	if (argc > 1 && !strcmp(argv[1], "sleep"))
		check_sleep(60000000000L);
	check_seconds = 40;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
