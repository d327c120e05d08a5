/* The other files of /proc/<pid>: names, arguments, and the links exe, cwd and root. */
#include "internal.h"

#include <mm/mm.h>
#include <mm/page.h>
#include <proc/ptrace.h>

static int comm_show(struct seq_file *m, struct task_struct *t)
{
	seq_printf(m, "%s\n", t->comm);
	return 0;
}

/* Only threads of the same process may be renamed, as in Linux. */
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

/* A range of an address space as it is, page by page. */
static int show_memory(struct seq_file *m, struct mm_struct *mm, unsigned long start, unsigned long end)
{
	char *page = get_free_page(GFP_KERNEL);

	if (!page)
		return -ENOMEM;
	while (start < end && !seq_has_overflowed(m)) {
		int part = min_t(unsigned long, end - start, PAGE_SIZE);
		int got = access_remote_vm(mm, start, page, part, false);

		if (got <= 0)
			break;
		seq_write(m, page, got);
		start += got;
	}
	free_page(page);
	return 0;
}

/* The arguments as they are in the process's memory now: a program may write others there. A kernel thread has none. */
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

/* As with cmdline, but only for who may look into the process: passwords stand there. */
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

/* The file that runs, for the link exe; kernel threads have none: -ENOENT. */
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
