/*
 * A thread that sleeps until there is something to do: echo 5 > /proc/kthread_queue adds numbers, a read shows the sum.
 */
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

MODULE_LICENSE("GPL");

struct job {
	struct list_head list;
	int number;
};
static LIST_HEAD(jobs); /* [jobs_lock] */
static DEFINE_SPINLOCK(jobs_lock);
static DECLARE_WAIT_QUEUE_HEAD(queue); /* the thread sleeps here */
static DECLARE_WAIT_QUEUE_HEAD(idle);  /* readers wait here until there is no job */
static struct task_struct *thread;
static struct proc_dir_entry *entry;
static unsigned int under_way; /* [jobs_lock] */
static int sum;		       /* [jobs_lock] */

static struct job *next_job(void)
{
	struct job *job;

	spin_lock(&jobs_lock);
	job = list_first_entry_or_null(&jobs, struct job, list);
	if (job)
		list_del(&job->list);
	spin_unlock(&jobs_lock);
	return job;
}

static void job_done(const struct job *job)
{
	spin_lock(&jobs_lock);
	sum += job->number;
	under_way--;
	spin_unlock(&jobs_lock);
	wake_up(&idle);
}

/* kthread_stop() makes kthread_should_stop() true and wakes it: the condition must ask for both. */
static int worker(void *unused)
{
	struct job *job;

	while (!kthread_should_stop()) {
		wait_event_interruptible(queue, !list_empty(&jobs) || kthread_should_stop());
		while ((job = next_job())) {
			job_done(job);
			kfree(job);
		}
	}
	return sum;
}

/* A number becomes a job for the thread: queued under the lock, then the thread is woken. */
static ssize_t queue_write(struct file *file, const char __user *buffer, size_t length, loff_t *pos)
{
	char text[16] = "";
	struct job *job;
	int err;

	if (length >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, buffer, length))
		return -EFAULT;
	job = kmalloc(sizeof(*job), GFP_KERNEL);
	if (!job)
		return -ENOMEM;
	err = kstrtoint(text, 10, &job->number);
	if (err) {
		kfree(job);
		return err;
	}
	spin_lock(&jobs_lock);
	list_add_tail(&job->list, &jobs);
	under_way++;
	spin_unlock(&jobs_lock);
	wake_up_interruptible(&queue);
	return length;
}

/* The lock makes sure that the sum is seen with all jobs that were done. -ERESTARTSYS: a signal; -ETIMEDOUT. */
static int sum_show(struct seq_file *m, void *v)
{
	long left = wait_event_interruptible_timeout(idle, !READ_ONCE(under_way), HZ * 10);

	if (left <= 0)
		return left ? left : -ETIMEDOUT;
	spin_lock(&jobs_lock);
	seq_printf(m, "%d\n", sum);
	spin_unlock(&jobs_lock);
	return 0;
}

static int queue_open(struct inode *inode, struct file *file)
{
	return single_open(file, sum_show, NULL);
}

static const struct proc_ops queue_ops = {
	.proc_open = queue_open,
	.proc_read = seq_read,
	.proc_write = queue_write,
	.proc_release = single_release,
};

static int __init kthread_queue_init(void)
{
	thread = kthread_run(worker, NULL, "kthread_queue");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	entry = proc_create("kthread_queue", 0644, NULL, &queue_ops);
	if (entry)
		return 0;
	kthread_stop(thread);
	return -ENOMEM;
}
module_init(kthread_queue_init);

/* The file goes first, so that no more jobs come; then the thread ends; jobs that it has left are freed. */
static void __exit kthread_queue_exit(void)
{
	struct job *job;

	proc_remove(entry);
	pr_info("kthread_queue: the sum was %d\n", kthread_stop(thread));
	while ((job = next_job()))
		kfree(job);
}
module_exit(kthread_queue_exit);
