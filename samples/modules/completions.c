/* Two threads of which the second waits until the first has said that it is done. */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>

MODULE_LICENSE("GPL");

static DECLARE_COMPLETION(crank_done);
static DECLARE_COMPLETION(flywheel_done);

/* Does not come back from its last line: so a module that has waited for the completion may go. */
static int crank_fn(void *unused)
{
	msleep(20);
	pr_info("completions: turn the crank\n");
	kthread_complete_and_exit(&crank_done, 0);
}

static int flywheel_fn(void *unused)
{
	wait_for_completion(&crank_done);
	pr_info("completions: the flywheel spins up\n");
	kthread_complete_and_exit(&flywheel_done, 0);
}

/*
 * Both threads are made before one of them runs: were the second to fail, the first could still be stopped without
 * having waited for it.
 */
static int __init completions_init(void)
{
	struct task_struct *crank, *flywheel;

	flywheel = kthread_create(flywheel_fn, NULL, "flywheel");
	if (IS_ERR(flywheel))
		return PTR_ERR(flywheel);
	crank = kthread_create(crank_fn, NULL, "crank");
	if (IS_ERR(crank)) {
		kthread_stop(flywheel);
		return PTR_ERR(crank);
	}
	wake_up_process(flywheel);
	wake_up_process(crank);
	return 0;
}
module_init(completions_init);

static void __exit completions_exit(void)
{
	wait_for_completion(&flywheel_done);
	pr_info("completions: both have ended\n");
}
module_exit(completions_exit);
