"""What modules have called later: timers by jiffies, works, callbacks of RCU. Modules of these tests alone."""

import re

from module_guest import DMESG, guest, log, one_module, samples  # noqa: F401

# By instructions: else what the host takes from the guest between two lines of a module may be longer than a timer.
ICOUNT = ("--icount",)

ORDER = """
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/timer.h>
#include <linux/jiffies.h>
MODULE_LICENSE("GPL");

struct named {
	struct timer_list timer;
	char name;
};
static struct named timers[8];
static char order[64];
static int n, again;

static void fn(struct timer_list *t)
{
	struct named *named = from_timer(named, t, timer);

	order[n++] = named->name;
	if (named->name == 'r' && again++ < 2)
		mod_timer(t, jiffies + 2);
	if (named->name == 'e' && time_before(jiffies, t->expires))
		order[n++] = '!';
}

static int f(void)
{
	static const struct { char name; int at; } want[] = {
		{'e', 9}, {'c', 6}, {'a', 3}, {'d', 6}, {'b', 3}, {'x', 4}, {'r', 12}, {'f', 30}};
	unsigned long start;
	int ret;

	timer_setup(&timers[0].timer, fn, 0);
	printk("order: never set %d %d\\n", timer_delete(&timers[0].timer), timer_delete_sync(&timers[0].timer));
	local_irq_disable(); /* set in one jiffy, on one CPU */
	start = jiffies + 1;
	for (int i = 0; i < 8; i++) {
		timers[i].name = want[i].name;
		timer_setup(&timers[i].timer, fn, 0);
		mod_timer(&timers[i].timer, start + want[i].at);
	}
	local_irq_enable();
	ret = timer_delete(&timers[5].timer);
	printk("order: deleted %d %d\\n", ret, timer_delete(&timers[5].timer));
	ret = mod_timer(&timers[7].timer, start + 15);
	printk("order: moved %d pending %d %d\\n", ret, timer_pending(&timers[7].timer), timer_pending(&timers[5].timer));
	msleep(40 * 1000 / HZ);
	printk("order: %s\\n", order);
	printk("order: shut %d\\n", timer_shutdown_sync(&timers[0].timer));
	mod_timer(&timers[0].timer, jiffies);
	printk("order: jiffies %u %lu %u\\n", timer_pending(&timers[0].timer), msecs_to_jiffies(5), jiffies_to_msecs(3));
	return 0;
}
module_init(f);
static void g(void)
{
	for (int i = 0; i < 8; i++)
		timer_delete_sync(&timers[i].timer);
}
module_exit(g);
"""


def test_timers_fire_in_order(guest, tmp_path):
    """By the moment, then by who was set first; the deleted one never, the moved one at its new time, one three times."""
    folder = one_module(guest.arch, tmp_path, "order", ORDER)
    out = guest("dmesg -c >/dev/null; insmod /order.ko; rmmod order; " + DMESG, "order", folder=folder, options=ICOUNT)
    assert log(out) == [
        "order: never set 0 0",
        "order: deleted 1 0",
        "order: moved 1 pending 1 0",
        "order: abcderrfr" if "rrfr" in out else "order: abcderfrr" if "rfrr" in out else "order: abcderrrf",
        "order: shut 0",
        "order: jiffies 0 2 12",
    ]


WORKS = """
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/workqueue.h>
MODULE_LICENSE("GPL");

static int runs, freed;
static bool slow;
static void fn(struct work_struct *w)
{
	if (slow)
		msleep(20);
	runs++;
}
static DECLARE_WORK(work, fn);
static DECLARE_DELAYED_WORK(delayed, fn);
static struct rcu_head head;
static void free_fn(struct rcu_head *h)
{
	freed++;
}

static int f(void)
{
	struct workqueue_struct *wq = alloc_workqueue("w-%d", 0, 0, 7), *bad = alloc_workqueue("x", WQ_UNBOUND | 1 << 20, 0);
	bool first, second, third;

	slow = true;
	first = queue_work(wq, &work);
	msleep(8); /* it runs */
	second = queue_work(wq, &work);
	third = queue_work(wq, &work);
	printk("works: %d %d %d bad %d\\n", first, second, third, !bad);
	flush_work(&work);
	printk("works: %d runs\\n", runs);
	queue_work(wq, &work);
	first = cancel_work_sync(&work) || runs == 3; /* or it ran already, and is over */
	second = queue_work(wq, &work); /* it can be queued again */
	third = flush_work(&work);
	printk("works: canceled %d again %d flushed %d\\n", first, second, third);
	runs = 0;
	slow = false;
	first = schedule_delayed_work(&delayed, HZ * 1000);
	second = schedule_delayed_work(&delayed, 0);
	third = mod_delayed_work(system_wq, &delayed, HZ * 2000);
	printk("works: delayed %d %d %d pending %d\\n", first, second, third, delayed_work_pending(&delayed));
	flush_delayed_work(&delayed);
	printk("works: %d runs pending %d\\n", runs, delayed_work_pending(&delayed));
	queue_delayed_work(wq, &delayed, HZ * 1000);
	first = cancel_delayed_work_sync(&delayed);
	second = cancel_delayed_work_sync(&delayed);
	third = queue_delayed_work(wq, &delayed, 1);
	msleep(40);
	printk("works: canceled %d %d again %d runs %d\\n", first, second, third, runs);
	queue_work(wq, &work);
	destroy_workqueue(wq);
	printk("works: destroyed after %d runs, state %d\\n", runs, work_pending(&work));
	schedule_work_on(0, &work); /* its queue is gone, another one takes it */
	flush_scheduled_work();
	queue_work_on(0, system_wq, &work);
	flush_work(&work);
	call_rcu(&head, free_fn);
	rcu_barrier();
	printk("works: %d runs, %d freed\\n", runs, freed);
	return 0;
}
module_init(f);
static void g(void)
{
}
module_exit(g);
"""


def test_works_are_cancelled_and_queued_again(guest, tmp_path):
    folder = one_module(guest.arch, tmp_path, "works", WORKS)
    out = guest(
        "dmesg -c >/dev/null; insmod /works.ko; rmmod works; ps | grep -c '[k]worker/w-7'; " + DMESG,
        "works",
        options=ICOUNT,
        folder=folder,
    )
    assert log(out) == [
        "0",
        "works: 1 1 0 bad 1",
        "works: 2 runs",
        "works: canceled 1 again 1 flushed 1",
        "works: delayed 1 0 1 pending 1",
        "works: 1 runs pending 0",
        "works: canceled 1 0 again 1 runs 2",
        "works: destroyed after 3 runs, state 0",
        "works: 5 runs, 1 freed",
    ]


PATHS = """
#include <linux/module.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
MODULE_LICENSE("GPL");

static struct timer_list timer;
static void timer_fn(struct timer_list *t)
{
}
static void work_fn(struct work_struct *w)
{
}
static DECLARE_DELAYED_WORK(work, work_fn);

static int f(void)
{
	unsigned long at = jiffies + 100000;
	int first, second, third;

	timer_setup(&timer, timer_fn, 0);
	first = mod_timer(&timer, at);
	second = mod_timer(&timer, at);
	third = mod_timer(&timer, at + 1);
	printk("paths: %d %d %d\\n", first, second, third);
	schedule_delayed_work(&work, 0);
	flush_delayed_work(&work);
	return 0;
}
module_init(f);
static void g(void)
{
	timer_delete_sync(&timer);
}
module_exit(g);
"""


def test_events_on_short_paths(guest, tmp_path):
    """A timer that is armed for the time that it has, one whose CPU goes, a work without a delay; who is told of a module."""
    folder = one_module(guest.arch, tmp_path, "paths", PATHS)
    out = guest(
        "cd /sys/kernel/tracing; for s in timer workqueue notifier; do echo 1 > events/$s/enable; done; "
        "dmesg -c > /dev/null; taskset 2 insmod /paths.ko; echo 0 > /sys/devices/system/cpu/cpu1/online; rmmod paths; "
        "echo 0 > events/enable; cat trace; " + DMESG,
        "paths",
        options=("--smp", "2", "--icount"),
        folder=folder,
    )
    records = re.findall(r"^ *(\S+)-\d+ +\[\d+\] (\S+) +[\d.]+: (\w+): (.*)$", out, re.M)
    ours = re.search(r"timer_start: (timer=[0-9a-f]+) function=timer_fn", out)[1]
    timers = [(name, *re.findall(r"expires=(\d+) .*cpu=(\d)", text)) for _, _, name, text in records if ours in text]
    at = int(timers[1][1][0])
    assert timers == [
        ("timer_init",),
        ("timer_start", (str(at), "1")),
        ("timer_cancel",),
        ("timer_start", (str(at + 1), "1")),
        ("timer_cancel",),
        ("timer_start", (str(at + 1), "0")),
        ("timer_cancel",),
    ]
    queued = [
        (comm, flags) for comm, flags, name, text in records if name == "workqueue_queue_work" and "work_fn" in text
    ]
    assert len(queued) == 1 and queued[0][0] == "insmod" and "h" not in queued[0][1], queued
    assert "delayed_work_timer_fn" not in out
    told = [text for _, _, name, text in records if name == "notifier_run"]
    assert told[0] == "jumps_coming" and "jumps_live" in told and told[-1] == "jumps_going", told
    assert "paths: 0 1 1" in out
