/*
 * poll and select: no wake-up between the look at the files and the sleep is lost, times are kept, nothing stays
 * queued. The files have one queue each and a poll function that calls back into the test after each look; so an event
 * can come at any moment of a scan. Sleeping is a function of the test, too (host_wait.h), in which things may happen,
 * or nothing until the time is over.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>
#include <host_wait.h>

#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/fs/poll.c"
#include "../../../kernel/fs/select/select.c"

static int allocated;
void *kvmalloc(size_t n, gfp_t gfp)
{
	allocated++;
	return malloc(n);
}
void *kzalloc(size_t n, gfp_t gfp)
{
	allocated++;
	return calloc(1, n);
}
void kfree(const void *p)
{
	allocated -= !!p;
	free((void *)p);
}
void kvfree(const void *p)
{
	kfree(p);
}
void *get_free_page(gfp_t gfp)
{
	allocated++;
	return malloc(PAGE_SIZE);
}
void free_page(void *p)
{
	allocated -= !!p;
	free(p);
}
struct fd fdget_shared(unsigned fd)
{
	fail();
	return (struct fd){NULL, 0};
}
void fput(struct file *f)
{
	atomic_dec(&f->f_count);
}
void set_restore_sigmask_to(sigset_t set)
{
}
void restore_saved_sigmask_unless(bool interrupted)
{
}
struct timeval ns_to_timeval(u64 ns)
{
	return (struct timeval){ns / NSEC_PER_SEC, ns % NSEC_PER_SEC / NSEC_PER_USEC};
}

/* ---- Files with one queue each. */
#define FILES 700

static struct poll_file {
	struct file file;
	wait_queue_head_t queue;
	unsigned mask; /* what is there */
	unsigned looks;
} files[FILES];
static struct file *descriptors[FILES];
static struct signal_struct group;
static struct files_struct table = {.max = FILES, .fd = descriptors};

static unsigned most_references; /* that a file had: one, and one for each queue that was joined */

/* After the look at a file: what another CPU does just then. */
static void (*after_look)(struct poll_file *pf);

static unsigned look(struct file *f, struct poll_table *pt)
{
	struct poll_file *pf = container_of(f, struct poll_file, file);
	unsigned mask;

	poll_wait(f, &pf->queue, pt);
	mask = pf->mask;
	most_references = max(most_references, (unsigned)atomic_read(&f->f_count));
	if (++pf->looks > 100)
		fail_msg("the files are looked at again and again, and nobody sleeps");
	if (after_look)
		after_look(pf);
	return mask;
}

static const struct file_operations look_fops = {.poll = look};

static void happens(struct poll_file *pf, unsigned mask)
{
	pf->mask |= mask;
	wake_up_interruptible_all(&pf->queue);
}

/* 700 open files with nothing to read, and a task that does not sleep. */
static int fresh(void **state)
{
	atomic_set(&table.count, 1);
	host_task.files = &table;
	host_task.signal = &group;
	group.rlim[RLIMIT_NOFILE][0] = FILES;
	host_task.state = TASK_RUNNING;
	clear_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	for (unsigned i = 0; i < FILES; i++) {
		files[i] = (struct poll_file){.file.f_op = &look_fops};
		atomic_set(&files[i].file.f_count, 1);
		init_waitqueue_head(&files[i].queue);
		descriptors[i] = &files[i].file;
	}
	host_sleeps = 0;
	host_asleep = NULL;
	after_look = NULL;
	most_references = 0;
	return 0;
}

/* Nobody is queued, no reference and no memory is kept. */
static int all_given_back(void **state)
{
	for (unsigned i = 0; i < FILES; i++) {
		assert_false(waitqueue_active(&files[i].queue));
		assert_int_equal(atomic_read(&files[i].file.f_count), 1);
	}
	assert_int_equal(allocated, 0);
	assert_int_equal(host_task.state, TASK_RUNNING);
	return 0;
}

static struct pollfd fds[FILES];

static long poll_first(unsigned n, short events, int ms)
{
	for (unsigned i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = i, .events = events, .revents = 0x7fff};
	return __do_sys_poll(fds, n, ms);
}

/* ---- Wake-ups */

static unsigned victim; /* whose event comes in the middle of a scan */
static void happens_once(struct poll_file *pf)
{
	if (pf == &files[victim] && !pf->mask)
		happens(pf, POLLIN);
}

/* The event comes right after the look at its file, and before anybody sleeps: also when that is not the last
 * file. */
static void test_event_between_look_and_sleep(void **state)
{
	for (victim = 0; victim < 20; victim++) {
		fresh(NULL);
		after_look = happens_once;
		assert_int_equal(poll_first(20, POLLIN, -1), 1);
		for (unsigned i = 0; i < 20; i++)
			assert_int_equal(fds[i].revents, i == victim ? POLLIN : 0);
		assert_int_equal(host_sleeps, 0);
		all_given_back(NULL);
	}
}

/* The same in the second round: the flag of the first wake-up is not taken for it, nor the second lost. */
static unsigned round_of_event;
static void happens_in_round(struct poll_file *pf)
{
	if (pf == &files[0] && pf->looks < round_of_event)
		wake_up_interruptible_all(&pf->queue); /* for nothing */
	else if (pf == &files[0])
		happens(pf, POLLIN);
}

static void test_event_in_a_later_round(void **state)
{
	for (round_of_event = 1; round_of_event < 6; round_of_event++) {
		fresh(NULL);
		after_look = happens_in_round;
		assert_int_equal(poll_first(3, POLLIN, -1), 1);
		assert_int_equal(files[0].looks, round_of_event + 1);
		assert_int_equal(host_sleeps, 0);
	}
}

static unsigned steps;
static bool step_in_sleep(void)
{
	switch (steps++) {
	case 0:
		happens(&files[1], POLLOUT); /* nobody asked for it */
		return true;
	case 1:
		happens(&files[2], POLLHUP); /* nobody asked, everybody is told */
		return true;
	}
	return false;
}

static void test_event_while_asleep(void **state)
{
	steps = 0;
	host_asleep = step_in_sleep;
	assert_int_equal(poll_first(3, POLLIN, -1), 1);
	assert_int_equal(fds[1].revents, 0);
	assert_int_equal(fds[2].revents, POLLHUP);
	assert_int_equal(host_sleeps, 2);
}

/* The flag of a wake-up that has been seen does not cut the next sleep short. */
static bool wakes_without_event(void)
{
	if (steps++ >= 3)
		return false;
	wake_up_interruptible_all(&files[0].queue);
	return true;
}

static void test_sleeps_again(void **state)
{
	s64 start = host_now;

	steps = 0;
	host_asleep = wakes_without_event;
	assert_int_equal(poll_first(1, POLLIN, 250), 0);
	assert_int_equal(host_sleeps, 4);
	assert_int_equal(files[0].looks, 5);
	assert_int_equal(host_now - start, 250 * NSEC_PER_MSEC);
}

/* ---- Times and arguments */

static void test_times(void **state)
{
	s64 start = host_now;

	assert_int_equal(poll_first(2, POLLIN, 0), 0);
	assert_int_equal(host_sleeps, 0);
	assert_int_equal(poll_first(0, 0, 30), 0);
	assert_int_equal(host_now - start, 30 * NSEC_PER_MSEC);
	files[1].mask = POLLIN | POLLOUT;
	assert_int_equal(poll_first(2, POLLOUT, -1), 1);
	assert_int_equal(fds[0].revents, 0);
	assert_int_equal(fds[1].revents, POLLOUT);
	assert_int_equal(host_sleeps, 1);
}

/*
 * A negative descriptor is passed over, a closed one is POLLNVAL, the same file may be there twice; the count is of
 * descriptors with anything to tell. Too many of them and a bad pointer are errors.
 */
static void test_descriptors(void **state)
{
	files[0].mask = files[5].mask = POLLIN;
	descriptors[2] = NULL;
	for (unsigned i = 0; i < 6; i++)
		fds[i] = (struct pollfd){.fd = i == 1 ? -1 : i == 3 ? 0 : (int)i, .events = POLLIN, .revents = -1};
	assert_int_equal(__do_sys_poll(fds, 6, -1), 4);
	assert_int_equal(fds[0].revents, POLLIN);
	assert_int_equal(fds[1].revents, 0);
	assert_int_equal(fds[2].revents, POLLNVAL);
	assert_int_equal(fds[3].revents, POLLIN); /* the same file a second time */
	assert_int_equal(fds[4].revents, 0);
	assert_int_equal(fds[5].revents, POLLIN);
	assert_int_equal(__do_sys_poll((struct pollfd *)8, 1, 0), -EFAULT);
}

/* A set has at most as many entries as the caller may have descriptors; that may be very many. */
static void test_limit(void **state)
{
	static struct pollfd many[70000];

	for (unsigned i = 0; i < ARRAY_SIZE(many); i++)
		many[i].fd = -1;
	assert_int_equal(__do_sys_poll(many, FILES, 0), 0);
	assert_int_equal(__do_sys_poll(many, FILES + 1, 0), -EINVAL);
	group.rlim[RLIMIT_NOFILE][0] = NR_OPEN_MAX;
	assert_int_equal(__do_sys_poll(many, NR_OPEN_MAX, 0), 0);
	assert_int_equal(__do_sys_poll(many, NR_OPEN_MAX + 1, 0), -EINVAL);
}

/* More queues than there is room for in the call's frame, and in one page. */
static void test_many_files(void **state)
{
	for (unsigned n = POLL_INLINE - 1; n < FILES; n += n < 70 ? 1 : 57) {
		fresh(NULL);
		victim = n - 1;
		after_look = happens_once;
		assert_int_equal(poll_first(n, POLLIN, -1), 1);
		assert_int_equal(fds[n - 1].revents, POLLIN);
		all_given_back(NULL);
	}
}

static bool signalled(void)
{
	set_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	host_now += 100 * NSEC_PER_MSEC;
	return true;
}

static void test_signals(void **state)
{
	s64 start = host_now;

	host_asleep = signalled;
	assert_int_equal(poll_first(1, POLLIN, 300), -ERESTART_RESTARTBLOCK);
	assert_int_equal(host_now - start, 100 * NSEC_PER_MSEC);
	clear_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	host_asleep = NULL;
	assert_int_equal(host_task.restart_fn(&host_task), 0); /* goes on to the same end */
	assert_int_equal(host_now - start, 300 * NSEC_PER_MSEC);
	files[0].mask = POLLIN;
	set_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	assert_int_equal(poll_first(1, POLLIN, 300), 1); /* what is there comes before the signal */
}

/* Once it has joined all queues, a call that is woken for nothing joins none again. */
static void test_joins_once(void **state)
{
	steps = 0;
	host_asleep = wakes_without_event;
	assert_int_equal(poll_first(POLL_INLINE, POLLIN, 10), 0);
	assert_int_equal(files[0].looks, 5);
	assert_int_equal(most_references, 2);
}

/* Bits beyond n are neither looked at nor given back. */
static void test_select_ends_at_n(void **state)
{
	for (unsigned n = 1; n <= 70; n++) {
		unsigned long in[16];

		memset(in, 0xff, sizeof(in));
		for (unsigned i = 0; i < 100; i++)
			files[i] = (struct poll_file){.file = files[i].file, .queue = files[i].queue, .mask = POLLIN};
		for (unsigned i = 0; i < 100; i++)
			INIT_LIST_HEAD(&files[i].queue.head);
		assert_int_equal(__do_sys_pselect6(n, in, NULL, NULL, NULL, NULL), n);
		assert_int_equal(files[n - 1].looks, 1);
		assert_int_equal(files[n].looks, 0);
	}
}

/*
 * Which bits of the three sets select leaves on for which events of poll, how the rest of the time is told, and that a
 * descriptor beyond n is not looked at while one below n that is closed is EBADF and changes no set.
 */
static void test_select(void **state)
{
	unsigned long in[16] = {0}, out[16] = {0}, ex[16] = {0};
	struct timespec ts = {0, 5000000};
	s64 start = host_now;

	descriptors[90] = NULL; /* asked for beyond n only */
	in[0] = BIT(3) | BIT(63);
	in[1] = BIT(0) | BIT(6) | BIT(90 - 64);
	out[1] = BIT(6);
	ex[0] = BIT(3);
	files[3].mask = POLLPRI;
	files[63].mask = POLLHUP;
	files[64].mask = POLLOUT;
	files[70].mask = POLLERR;
	assert_int_equal(__do_sys_pselect6(71, in, out, ex, &ts, NULL), 4);
	assert_true(in[0] == BIT(63) && in[1] == BIT(6) && out[0] == 0 && out[1] == BIT(6) && ex[0] == BIT(3));
	files[3].mask = 0;
	in[0] = BIT(3);
	in[1] = 0;
	assert_int_equal(__do_sys_pselect6(64, in, NULL, NULL, &ts, NULL), 0);
	assert_int_equal(in[0], 0);
	assert_int_equal(host_now - start, 5000000);
	assert_true(ts.tv_sec == 0 && ts.tv_nsec == 0);
	in[1] = BIT(90 - 64);
	assert_int_equal(__do_sys_pselect6(91, in, NULL, NULL, NULL, NULL), -EBADF);
	assert_int_equal(in[1], BIT(90 - 64));
	assert_int_equal(__do_sys_pselect6(-1, in, NULL, NULL, NULL, NULL), -EINVAL);
}

/* ---- The file of a module, which takes its queue with it while a task is on it. */

static struct poll_pollers pollers;
static bool gone;

static unsigned look_at_module(struct file *f, struct poll_table *pt)
{
	return gone ? POLLERR | POLLHUP : poll_removable(f, pt, &pollers, look);
}

static const struct file_operations module_fops = {.poll = look_at_module};

/* The queue is no memory of the module's any more: nothing may be left on it, and nobody may look at it again. */
static bool module_goes(void)
{
	poll_leave(&pollers);
	gone = true;
	assert_false(waitqueue_active(&files[1].queue));
	memset(&files[1].queue, 0x5a, sizeof(files[1].queue));
	return false;
}

/* A poll whose time is over leaves nothing behind; one that sleeps when the module goes wakes and hears of it. */
static void test_queue_goes(void **state)
{
	spin_lock_init(&pollers.lock);
	INIT_LIST_HEAD(&pollers.entries);
	gone = false;
	files[1].file.f_op = &module_fops;
	assert_int_equal(poll_first(2, POLLIN, 1), 0);
	assert_true(list_empty(&pollers.entries));
	assert_false(waitqueue_active(&files[1].queue));
	host_sleeps = 0;
	host_asleep = module_goes;
	assert_int_equal(poll_first(3, POLLIN, -1), 1);
	assert_int_equal(fds[1].revents, POLLERR | POLLHUP);
	assert_true(list_empty(&pollers.entries));
	assert_int_equal(host_sleeps, 1);
	init_waitqueue_head(&files[1].queue);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fresh, all_given_back)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_event_between_look_and_sleep),
		TEST(test_event_in_a_later_round),
		TEST(test_event_while_asleep),
		TEST(test_sleeps_again),
		TEST(test_times),
		TEST(test_descriptors),
		TEST(test_limit),
		TEST(test_many_files),
		TEST(test_signals),
		TEST(test_joins_once),
		TEST(test_select_ends_at_n),
		TEST(test_select),
		TEST(test_queue_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
