/*
 * execve: from a path and strings to a new program in the same process.
 *
 * do_execve() opens the file, copies the strings to the top of what will be the new stack, and asks each format in turn
 * whether the file is one of its own. A format checks all that can be wrong first; then comes the point of no return,
 * where the old address space goes. An error before it is returned to the old program; after it there is no program to
 * return to, and the process dies. Scripts are a format too: they put their interpreter in the place of the file and
 * search again.
 */
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <fs/vfs.h>
#include <kernel/cmdline.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/cred.h>
#include <proc/exec.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <trace/events/sched.h>
#include <uapi/fcntl.h>
#include <uapi/mount.h>

static const struct binfmt *const formats[] = {&elf_format, &script_format};

/* fexecve: what the descriptor stands for. ERR_PTR. */
static struct file *open_exec_fd(int fd)
{
	struct file *file = fget(fd);
	int err;

	if (!file)
		return ERR_PTR(-EBADF);
	if (!S_ISREG(file->f_inode->i_mode) || (file->f_mnt && (file->f_mnt->mnt_flags & MS_NOEXEC)))
		err = -EACCES;
	else
		err = inode_permission(file->f_inode, MAY_EXEC);
	if (!err)
		return file;
	fput(file);
	return ERR_PTR(err);
}

/*
 * The file of a program or an interpreter. As long as it is held nobody may write to it: ETXTBSY for the writer, or for
 * us when somebody has it open for writing. close_exec() undoes both.
 */
struct file *open_exec(int dfd, const char *name, int flags)
{
	unsigned how = O_RDONLY | __FMODE_EXEC | (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0);
	struct file *file;
	int err;

	if (*name || !(flags & AT_EMPTY_PATH))
		file = do_filp_open(dfd, name, how, 0);
	else
		file = open_exec_fd(dfd);
	if (IS_ERR(file))
		return file;
	err = deny_write_access(file);
	if (!err)
		return file;
	fput(file);
	return ERR_PTR(err);
}

void close_exec(struct file *file)
{
	allow_write_access(file);
	fput(file);
}

/*
 * The first bytes decide. A format that does not know them says -ENOEXEC and the next one is asked; any other error is
 * its answer. Called again for a script's interpreter, which is why the file may be another one each time.
 */
int search_binary_handler(struct binprm *bprm)
{
	loff_t pos = 0;
	ssize_t n;

	memset(bprm->buf, 0, BINPRM_BUF_SIZE);
	n = kernel_read(bprm->file, bprm->buf, BINPRM_BUF_SIZE, &pos);
	if (n < 0)
		return n == -EINVAL ? -EACCES : n; /* a file without pages, as one of procfs */
	for (unsigned i = 0; i < ARRAY_SIZE(formats); i++) {
		int err = formats[i]->load(bprm);

		if (err != -ENOEXEC || bprm->point_of_no_return)
			return err;
	}
	return -ENOEXEC;
}

/* Of an exec that has come as far as it has: what is not there yet is NULL. */
static void free_bprm(struct binprm *bprm)
{
	for (unsigned i = 0; i < bprm->nr_prefix; i++)
		kfree(bprm->prefix[i]);
	if (bprm->page)
		free_arg_pages(bprm);
	if (bprm->file)
		close_exec(bprm->file);
	kfree(bprm);
}

/* "/dev/fd/N", or "/dev/fd/N/name" when relative to a directory: what AT_EXECFN and scripts get to see. */
static int name_program(struct binprm *bprm, int dfd, const char *name, char **allocated)
{
	bprm->filename = name;
	if (dfd == AT_FDCWD || *name == '/') {
		bprm->interp = bprm->filename;
		return 0;
	}
	*allocated = kasprintf(GFP_KERNEL, *name ? "/dev/fd/%d/%s" : "/dev/fd/%d", dfd, name);
	bprm->filename = bprm->interp = *allocated;
	return *allocated ? 0 : -ENOMEM;
}

/*
 * The limit RLIMIT_NPROC is checked here for a process that changed its user since (setuid cannot fail for it, so it
 * leaves a mark). 0 or -errno; does not return when the program is past the point of no return and broken.
 */
static int do_execve(int dfd, const char *name, struct user_strings argv, struct user_strings envp, int flags)
{
	struct binprm *bprm = kzalloc(sizeof(*bprm), GFP_KERNEL);
	pid_t old_pid = current->pid;
	char *allocated = NULL;
	bool dead;
	int err = -EAGAIN;

	if (!bprm)
		return -ENOMEM;
	if ((current->flags & PF_NPROC_EXCEEDED) && nproc_exceeded(current->user))
		goto free_bprm;
	current->flags &= ~PF_NPROC_EXCEEDED;
	err = name_program(bprm, dfd, name, &allocated);
	if (err)
		goto free_bprm;
	bprm->file = open_exec(dfd, name, flags);
	if (IS_ERR(bprm->file)) {
		err = PTR_ERR(bprm->file);
		bprm->file = NULL;
		goto free_bprm;
	}
	err = copy_strings(bprm, argv, envp);
	if (!err)
		err = search_binary_handler(bprm);
	if (!err)
		trace_sched_process_exec(current, old_pid, bprm->filename);
free_bprm:
	dead = err && bprm->point_of_no_return;
	free_bprm(bprm);
	kfree(allocated);
	if (dead) /* there is no program to return the error to */
		do_group_exit(SIGSEGV);
	return err;
}

/* A path from user space, in a page of its own. */
static char *get_path(const char __user *uname, bool may_be_empty)
{
	char *path = get_free_page(GFP_KERNEL);
	long n;

	if (!path)
		return ERR_PTR(-ENOMEM);
	n = strncpy_from_user(path, uname, PATH_MAX);
	if (n >= PATH_MAX)
		n = -ENAMETOOLONG;
	else if (!n && !may_be_empty)
		n = -ENOENT;
	if (n >= 0)
		return path;
	free_page(path);
	return ERR_PTR(n);
}

static long execve_user(int dfd, const char __user *uname, const char *const *argv, const char *const *envp, int flags)
{
	char *path = get_path(uname, flags & AT_EMPTY_PATH);
	long ret;

	if (IS_ERR(path))
		return PTR_ERR(path);
	ret = do_execve(dfd, path, (struct user_strings){argv, false}, (struct user_strings){envp, false}, flags);
	free_page(path);
	return ret;
}

SYSCALL_DEFINE3(execve, const char __user *, name, const char *const __user *, argv, const char *const __user *, envp)
{
	return execve_user(AT_FDCWD, name, argv, envp, 0);
}

SYSCALL_DEFINE5(execveat, int, dfd, const char __user *, name, const char *const __user *, argv,
		const char *const __user *, envp, int, flags)
{
	if (flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return -EINVAL;
	return execve_user(dfd, name, argv, envp, flags);
}

/* For the first process, whose strings are the kernel's own. */
int kernel_execve(const char *path, const char *const *argv, const char *const *envp)
{
	return do_execve(AT_FDCWD, path, (struct user_strings){argv, true}, (struct user_strings){envp, true}, 0);
}

static const char *execute_command; /* init= */

static int set_init(const char *value)
{
	execute_command = value;
	return *value ? 0 : -EINVAL;
}
__setup("init=", set_init);

/* Only a file that is there and cannot be run is worth a message. */
static int exec_try_init(const char *path)
{
	int err;

	init_argv[0] = path;
	err = kernel_execve(path, init_argv, init_envp);
	if (!err)
		pr_info("Run %s as init process\n", path);
	else if (err != -ENOENT)
		pr_err("Starting init: %s exists but couldn't execute it (error %d)\n", path, err);
	return err;
}

/*
 * The first program, in the task that becomes process 1: what init= names and nothing else, or the first of the usual
 * places. Without any there is nothing that the machine could do.
 */
int run_init_process(void)
{
	static const char *const places[] = {"/init", "/sbin/init", "/bin/init", "/bin/sh"};

	if (execute_command) {
		int err = exec_try_init(execute_command);

		if (err)
			panic("Requested init %s failed (error %d).", execute_command, err);
		return 0;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(places); i++)
		if (!exec_try_init(places[i]))
			return 0;
	panic("No working init found.");
}
