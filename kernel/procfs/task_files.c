/*
 * Further files of /proc/<pid>: comm (the name), cmdline and environ (the program's arguments and
 * environment), and the links exe, cwd and root.
 *
 * cmdline and environ are read from the memory of the process itself, so they show what the program has
 * written there since. Everything runs in thread context with a reference to the task, and takes its own
 * reference to the mm that it reads.
 */
#include "internal.h"

#include <mm/mm.h>
#include <mm/page.h>
#include <proc/ptrace.h>

/*
 * The name is read without a lock: a rename at the same time may show a mixture of both names, always ended
 * by a zero.
 */
static int comm_show(struct seq_file *m, struct task_struct *t)
{
	seq_printf(m, "%s\n", t->comm);
	return 0;
}

/*
 * Rename a thread. As on Linux only threads of the writer's own process: -EINVAL for others. A longer name
 * is cut off.
 */
static int comm_store(struct task_struct *t, const char *text, size_t len)
{
	char name[TASK_COMM_LEN];

	if (t->tgid != current->tgid)
		return -EINVAL;
	strscpy(name, text, sizeof(name));
	name[strcspn(name, "\n")] = '\0';
	set_task_comm(t, name);
	return 0;
}

/*
 * Print [start, end) of an address space as it is, page by page. It ends early, without an error, where
 * memory is not mapped: the program may have unmapped it. Returns 0 or -ENOMEM.
 */
static int show_memory(struct seq_file *m, struct mm_struct *mm, unsigned long start, unsigned long end)
{
	char *page = get_free_page(GFP_KERNEL);

	if (!page)
		return -ENOMEM;
	while (start < end && !seq_has_overflowed(m)) {
		int part = min_t(unsigned long, end - start, PAGE_SIZE);
		int got = access_remote_vm(mm, start, page, part, 0);

		if (got <= 0)
			break;
		seq_write(m, page, got);
		start += got;
	}
	free_page(page);
	return 0;
}

/* Arguments, each ended by a zero byte. Open to everybody, as ps shows them. A kernel thread has none. */
static int pid_cmdline_show(struct seq_file *m, struct task_struct *t)
{
	struct mm_struct *mm = get_task_mm(t);
	int err;

	if (!mm)
		return 0;
	err = show_memory(m, mm, mm->arg_start, mm->arg_end);
	mmput(mm);
	return err;
}

/*
 * Only for readers that may look into the process, as environments hold passwords. mm_access() judges the
 * very address space that it returns, so an exec in between does not matter.
 */
static int environ_show(struct seq_file *m, struct task_struct *t)
{
	struct mm_struct *mm = mm_access(t, PTRACE_MODE_READ_FSCREDS);
	int err;

	if (!mm || IS_ERR(mm))
		return PTR_ERR(mm);
	err = show_memory(m, mm, mm->env_start, mm->env_end);
	mmput(mm);
	return err;
}

/* The file that the process runs, with a reference. -ENOENT: a kernel thread has none. */
static int exe_path(struct task_struct *t, struct path *out)
{
	struct mm_struct *mm = get_task_mm(t);
	int err = -ENOENT;

	if (!mm)
		return err;
	if (mm->exe_file) {
		*out = file_path(mm->exe_file);
		path_get(out);
		err = 0;
	}
	mmput(mm);
	return err;
}

static const struct proc_pid_entry comm_entry = {.name = "comm", .mode = 0644, .show = comm_show, .store = comm_store};
static const struct proc_pid_entry cmdline_entry = {.name = "cmdline", .mode = 0444, .show = pid_cmdline_show};
static const struct proc_pid_entry environ_entry = {
	.name = "environ", .mode = 0400, .access = PTRACE_MODE_READ_FSCREDS, .show = environ_show};
static const struct proc_pid_entry exe_entry = {.name = "exe", .path = exe_path};
static const struct proc_pid_entry cwd_entry = {.name = "cwd", .path = task_cwd};
static const struct proc_pid_entry root_entry = {.name = "root", .path = task_root};
REGISTER_PROC_PID(comm_entry);
REGISTER_PROC_PID(cmdline_entry);
REGISTER_PROC_PID(environ_entry);
REGISTER_PROC_PID(exe_entry);
REGISTER_PROC_PID(cwd_entry);
REGISTER_PROC_PID(root_entry);
