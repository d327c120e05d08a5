/*
 * Futexes where two come at once: a waiter whose time is up while another task wakes or moves it, and two tasks that
 * move waiters between the same words. There is one task; the other's call is made at the moment at which the waiter
 * takes its bucket's lock for the second time, which is when it leaves the queue.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>
#include <host_wait.h>

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/proc/futex/futex.c"
#include "../../../kernel/proc/futex/robust.c"

/* ---- What it stands on: words of one program, the clock at whose end nobody looks. */
void __put_task_struct(struct task_struct *t)
{
	fail_msg("the test's task is freed");
}
bool wake_up_state(struct task_struct *p, unsigned state)
{
	return try_to_wake_up(p, state);
}
struct vm_area_struct *find_vma(struct mm_struct *mm, unsigned long addr)
{
	return NULL;
}
pte_t *pte_lookup(pgd_t *pgd, unsigned long addr)
{
	return NULL;
}
struct page *mem_map;
unsigned long min_pfn;
void put_page(struct page *page)
{
	fail_msg("a futex in shared memory");
}
int futex_lock_pi(u32 __user *uaddr, bool shared, s64 expires, bool try)
{
	fail_msg("a futex with priority inheritance");
	return 0;
}
void futex_pi_exit(void)
{
	fail_msg("the end of a thread");
}
void futex_pi_adjust(struct task_struct *p)
{
	fail_msg("another priority");
}
int futex_unlock_pi(u32 __user *uaddr, bool shared)
{
	return futex_lock_pi(uaddr, shared, 0, true);
}
#define WALL_OFFSET 5000
u64 wall_clock_offset(void)
{
	return WALL_OFFSET;
}
/* The task is preempted right after it has read the clock. */
u64 ktime_get_real_ns(void)
{
	u64 now = host_now + WALL_OFFSET;

	host_now += 300;
	return now;
}
static u64 asked_for; /* the time of the call, ns */
int get_timespec_ns(const struct timespec __user *uts, u64 *ns)
{
	*ns = asked_for;
	return 0;
}

struct task_struct *find_get_task(pid_t pid)
{
	fail_msg("another task's robust futexes");
	return NULL;
}
bool ptrace_may_access(struct task_struct *task, unsigned mode)
{
	return true;
}

static u32 words[64];

/* A word in another bucket than words[0]. */
static u32 *elsewhere(void)
{
	struct futex_key a, b;

	assert_int_equal(get_futex_key(&words[0], false, &a), 0);
	for (unsigned i = 1; i < ARRAY_SIZE(words); i++) {
		assert_int_equal(get_futex_key(&words[i], false, &b), 0);
		if (bucket_of(&a) != bucket_of(&b))
			return &words[i];
	}
	fail_msg("all words are in one bucket");
	return NULL;
}

static int fresh(void **state)
{
	futex_init();
	atomic_set(&host_task.usage, 1);
	host_spin_locking = NULL;
	host_now = 1000;
	return 0;
}

/* How often a lock was asked for; at the second time, when the waiter leaves its queue, this happens before.
 */
static int asked, done;
static int (*meanwhile)(void);
static void at_the_second_time(spinlock_t *l)
{
	if (++asked != 2)
		return;
	host_spin_locking = NULL;
	done = meanwhile();
}

/* Waits for 500 ns, at the end of which that happens. */
static int waits(int (*what)(void))
{
	asked = done = 0;
	meanwhile = what;
	host_spin_locking = at_the_second_time;
	return futex_wait(&words[0], false, 0, host_now + 500, FUTEX_BITSET_ANY);
}

static int nothing(void)
{
	return 0;
}
static int wake(void)
{
	return futex_wake(&words[0], false, 1, FUTEX_BITSET_ANY);
}
static int move(void)
{
	return futex_requeue(&words[0], elsewhere(), false, 0, 1, NULL);
}
static int move_and_wake(void)
{
	return move() + futex_wake(elsewhere(), false, 1, FUTEX_BITSET_ANY);
}

static void test_time_is_up(void **state)
{
	assert_int_equal(waits(nothing), -ETIMEDOUT);
	assert_int_equal(wake(), 0);
	/* Who was told that it has woken somebody has. */
	if (waits(wake) != 0)
		fail_msg("a wake-up at the last moment is lost: the waiter says that its time is up");
	assert_int_equal(done, 1);
	assert_int_equal(waits(move_and_wake), 0);
	assert_int_equal(done, 2);
	/* Moved, and nobody wakes it there: it leaves that queue. */
	assert_int_equal(waits(move), -ETIMEDOUT);
	assert_int_equal(done, 1);
	assert_int_equal(futex_wake(elsewhere(), false, 1, FUTEX_BITSET_ANY), 0);
}

/* A moment of the wall clock becomes one of ours, exactly. One that has passed is over, and never stays never. */
static void test_expires(void **state)
{
	static const struct timespec when;
	s64 expires;

	asked_for = WALL_OFFSET + 2000;
	assert_int_equal(futex_wait_expires(&when, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, &expires), 0);
	assert_int_equal(expires, 2000);
	asked_for = WALL_OFFSET - 1;
	assert_int_equal(futex_wait_expires(&when, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, &expires), 0);
	assert_int_equal(expires, 0);
	asked_for = KTIME_MAX;
	assert_int_equal(futex_wait_expires(&when, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, &expires), 0);
	assert_int_equal(expires, KTIME_MAX);
	asked_for = 2000;
	assert_int_equal(futex_wait_expires(&when, FUTEX_WAIT_BITSET, &expires), 0);
	assert_int_equal(expires, 2000);
	assert_int_equal(futex_wait_expires(&when, FUTEX_WAIT, &expires), 0);
	assert_int_equal(expires, host_now + 2000);
}

static spinlock_t *order[2];
static void note_order(spinlock_t *l)
{
	assert_in_range(asked, 0, 1);
	order[asked++] = l;
}

/* Two buckets are locked in the same order, whichever of the words is the first. */
static void test_lock_order(void **state)
{
	spinlock_t *first;

	host_spin_locking = note_order;
	asked = 0;
	assert_int_equal(move(), 0);
	assert_int_equal(asked, 2);
	first = order[0];
	asked = 0;
	assert_int_equal(futex_requeue(elsewhere(), &words[0], false, 0, 1, NULL), 0);
	assert_int_equal(asked, 2);
	if (order[0] != first)
		fail_msg("two who move waiters between the same words, each the other way, wait for each other's lock");
	host_spin_locking = NULL;
}

static void a_waiter_comes(void)
{
	words[0] |= FUTEX_WAITERS;
}

static void another_takes_it(void)
{
	words[0] = 43;
}

/* What others do to the word of a task that dies, after the kernel has read the word, is not written over. */
static void test_robust_death(void **state)
{
	static struct mm_struct mm;

	mutex_init(&mm.mmap_lock);
	host_task.mm = &mm;
	words[0] = host_task.pid;
	host_before_exchange = a_waiter_comes;
	assert_true(robust_death((u64)&words[0], 0, false));
	assert_int_equal(words[0], FUTEX_WAITERS | FUTEX_OWNER_DIED);
	words[0] = host_task.pid;
	host_before_exchange = another_takes_it;
	assert_true(robust_death((u64)&words[0], 0, false));
	assert_int_equal(words[0], 43);
	host_before_exchange = NULL;
	words[0] = FUTEX_WAITERS | host_task.pid;
	assert_true(robust_death((u64)&words[0], 0, false));
	assert_int_equal(words[0], FUTEX_WAITERS | FUTEX_OWNER_DIED);
	words[0] = 44;
	assert_true(robust_death((u64)&words[0], 0, false));
	assert_int_equal(words[0], 44);
	assert_false(robust_death((u64)&words[0] + 2, 0, false));
	assert_false(robust_death(8, 0, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_time_is_up, fresh),
		cmocka_unit_test_setup(test_expires, fresh),
		cmocka_unit_test_setup(test_lock_order, fresh),
		cmocka_unit_test_setup(test_robust_death, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
