/*
 * epoll_wait(): an event wakes one of the tasks that wait for an instance. The one that was woken may be leaving, as
 * its time is over or a signal has come: then it tells of the event itself, since no other task is woken for it. The
 * instance has one item; an event comes at the moment that the test chooses, which is after a look at the list.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include <host_kernel.h>
#include <host_wait.h>

#include "../../../kernel/fs/anon/epoll_wait.c"

static struct eventpoll ep;
static struct file instance = {.private_data = &ep};
static struct epitem item = {.ep = &ep};
static unsigned looks, event_after; /* the event comes after so many looks at the list; 0: it does not come */

bool is_epoll(const struct file *f)
{
	return true;
}
u32 item_poll(struct epitem *it, struct poll_table *pt)
{
	return POLLIN;
}
struct file *fget(unsigned fd)
{
	return &instance;
}
void fput(struct file *f)
{
}
int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	fail_msg("something is printed: %s", fmt);
	return 0;
}
void *kvzalloc(size_t n, gfp_t gfp)
{
	return calloc(1, n);
}
void kvfree(const void *p)
{
	free((void *)p);
}
void set_restore_sigmask_to(sigset_t set)
{
}
void restore_saved_sigmask_unless(bool interrupted)
{
}
int get_timespec_ns(const struct timespec __user *uts, u64 *ns)
{
	return -EFAULT;
}
void _raw_spin_lock_irq(spinlock_t *l)
{
	_raw_spin_lock_irqsave(l);
}

/* Who has looked at the list lets go of its lock. What epoll_callback() does on another CPU just then. */
void _raw_spin_unlock_irq(spinlock_t *l)
{
	_raw_spin_unlock_irqrestore(l, 0);
	if (l != &ep.lock || ++looks != event_after)
		return;
	list_add_tail(&item.ready, &ep.ready);
	wake_up(&ep.wait);
}

static int fresh(void **state)
{
	spin_lock_init(&ep.lock);
	INIT_LIST_HEAD(&ep.ready);
	init_waitqueue_head(&ep.wait);
	INIT_LIST_HEAD(&item.ready);
	item.event = (struct epoll_event){POLLIN | EPOLLET, 7};
	host_task.state = TASK_RUNNING;
	clear_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	host_sleeps = looks = event_after = 0;
	return 0;
}

/* Returns what epoll_wait() does, and checks that an event that is told of is the item's. */
static long wait_ms(int ms)
{
	struct epoll_event got = {0};
	long n = __do_sys_epoll_wait(3, &got, 1, ms);

	assert_int_equal(host_task.state, TASK_RUNNING);
	assert_false(waitqueue_active(&ep.wait));
	if (n == 1)
		assert_int_equal(got.data, 7);
	return n;
}

/* Without an event a signal and a time that is over end the wait. */
static void no_event(void **state)
{
	set_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	assert_int_equal(wait_ms(-1), -EINTR);
	assert_int_equal(wait_ms(5), -EINTR);
	clear_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	assert_int_equal(wait_ms(0), 0);
	assert_int_equal(wait_ms(5), 0);
}

/* After the first look, or after the one behind joining the queue: the event is told of, and the list is empty. */
static void event_of_a_leaving_task(void **state)
{
	for (int why = 0; why < 2; why++)
		for (unsigned after = 1; after <= 2; after++) {
			fresh(NULL);
			event_after = after;
			if (!why)
				set_tsk_thread_flag(&host_task, TIF_SIGPENDING);
			assert_int_equal(wait_ms(why ? 0 : -1), 1);
			assert_true(list_empty(&ep.ready));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(no_event, fresh),
		cmocka_unit_test_setup(event_of_a_leaving_task, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
