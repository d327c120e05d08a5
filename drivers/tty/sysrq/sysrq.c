/*
 * Keys to the kernel itself: a serial break, then a letter. They work while no program does, since the softirq handles
 * them. `echo t > /proc/sysrq-trigger` does the same from a shell. A key is one struct with a handler, registered with
 * REGISTER_SYSRQ.
 *
 *	receive interrupt	tty_receive_break: the next byte is a key
 *	receive interrupt	sysrq_filter takes that byte, before those that wait to be looked at
 *	softirq, tty->lock held	sysrq_take hands it over
 *	softirq, lock dropped	handle_sysrq calls the key's handler
 */
#include <drivers/tty.h>
#include <fs/libfs.h>
#include <fs/text_file.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <sched/sched.h>

DECLARE_TABLE(sysrq, const struct sysrq_key);

/* The keys of all files, in the order in which they were linked. */
static void sysrq_help(void)
{
	const struct sysrq_key *k;

	pr_info("sysrq: HELP :");
	for_each_in_table(sysrq, k)
		pr_cont(" %s(%c)", k->help, k->key);
	pr_cont("\n");
}

/*
 * Show every task and its stack. Context: softirq, so a task that runs on another CPU goes on running, and its
 * backtrace may be out of date when it is printed. Processes and threads are found by number, with a reference to one
 * at a time, so no lock is held while a line is printed.
 */
static void sysrq_show_tasks(void)
{
	struct task_struct *p, *t;

	for (pid_t pid = 1; (p = next_process(pid)); pid = p->pid + 1, put_task_struct(p))
		for (pid_t tid = 1; (t = next_thread(p, tid)); tid = t->pid + 1, put_task_struct(t)) {
			rcu_read_lock(); /* the parent may go */
			pr_info("task:%-15s state:%c pid:%-5d ppid:%d\n", t->comm, task_state_to_char(t), t->pid,
				t->parent ? t->parent->pid : 0);
			rcu_read_unlock();
			show_stack(t, NULL);
		}
}

/* What each CPU is doing now: those that do not answer an IPI are the interesting ones. */
static void sysrq_show_cpus(void)
{
	trigger_all_cpu_backtrace();
}

/* To see what a panic does, on a machine that is otherwise well. */
static void sysrq_crash(void)
{
	panic("sysrq triggered crash");
}

static const struct sysrq_key help_key = {'h', "show-help", sysrq_help};
static const struct sysrq_key tasks_key = {'t', "show-task-states", sysrq_show_tasks};
static const struct sysrq_key cpus_key = {'l', "show-backtrace-all-active-cpus", sysrq_show_cpus};
static const struct sysrq_key crash_key = {'c', "crash", sysrq_crash};
REGISTER_SYSRQ(help_key);
REGISTER_SYSRQ(tasks_key);
REGISTER_SYSRQ(cpus_key);
REGISTER_SYSRQ(crash_key);

/* sysrq_reader.read. An unknown key shows the list of keys. Softirq or thread context; no lock. */
static void handle_sysrq(char key)
{
	const struct sysrq_key *k;

	for_each_in_table(sysrq, k)
		if (k->key == key) {
			pr_info("sysrq: %s\n", k->help);
			k->handler();
			return;
		}
	sysrq_help();
}

/* The same from a shell: echo t > /proc/sysrq-trigger. */
static int sysrq_store(char *text, void *data)
{
	if (!*text)
		return -EINVAL;
	handle_sysrq(text[0]);
	return 0;
}

static const struct text_file sysrq_trigger = {.path = "sysrq-trigger", .mode = 0200, .store = sysrq_store};
REGISTER_PROC(sysrq_trigger);

static const struct sysrq_reader sysrq_reader = {.read = handle_sysrq};
REGISTER_SYSRQ_READER(sysrq_reader);
