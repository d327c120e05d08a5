/* Works: one in a queue of our own, and a delayed one that queues itself again. They run in threads, and may sleep. */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

MODULE_LICENSE("GPL");

static struct workqueue_struct *queue;

static void first_fn(struct work_struct *work)
{
	msleep(10);
	pr_info("work: first, in %s\n", current->comm);
}
static DECLARE_WORK(first, first_fn);

static void second_fn(struct work_struct *work)
{
	pr_info("work: second\n");
}
static DECLARE_WORK(second, second_fn);

static unsigned int rounds; /* [the delayed work alone] */
static struct delayed_work delayed;

static void delayed_fn(struct work_struct *work)
{
	pr_info("work: round %u\n", ++rounds);
	schedule_delayed_work(to_delayed_work(work), msecs_to_jiffies(20));
}

static int __init print_work_init(void)
{
	queue = alloc_workqueue("print_work", WQ_UNBOUND, 1);
	if (!queue)
		return -ENOMEM;
	queue_work(queue, &first);
	queue_work(queue, &second); /* after the first, although that sleeps */
	INIT_DELAYED_WORK(&delayed, delayed_fn);
	schedule_delayed_work(&delayed, msecs_to_jiffies(20));
	flush_workqueue(queue);
	pr_info("work: the queue is empty\n");
	return 0;
}
module_init(print_work_init);

/* It queues itself again, which cancel_delayed_work_sync() ends. */
static void __exit print_work_exit(void)
{
	cancel_delayed_work_sync(&delayed);
	destroy_workqueue(queue);
}
module_exit(print_work_exit);
