/*
 * execve: from a path and strings to a new program in the same process.
 *
 *     do_execve                        open the file, copy argv and envp into kernel pages
 *       search_binary_handler          read the first bytes, ask each format
 *         load_elf                     check the file, build the new address space
 *           begin_new_exec             --- point of no return: threads, old memory and handlers go ---
 *           setup_arg_stack            strings and vectors onto the new stack
 *         load_script                  put the interpreter in the file's place, search again
 *
 * A format checks all that can be wrong before the point of no return. An error before it goes back to the old
 * program; an error after it kills the process, since no program is left that could take it. Thread context
 * throughout; the locks are taken by the functions that are called.
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
#include <proc/debugger.h>
#include <proc/exec.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <trace/events/sched.h>
#include <uapi/fcntl.h>
#include <uapi/mount.h>

/* The formats, in the order in which they are asked. */
static const struct binfmt *const formats[] = {&elf_format, &script_format};

/*
 * Opening for execution checks the right to execute in place of the right to read. While the file is held it must not
 * change, because pages of the program are read from it on demand: a writer gets -ETXTBSY, and so does this function
 * when the file is open for writing already. For fexecve(3), which gives a descriptor and an empty name, the file is
 * opened once more, since the descriptor may be one of O_PATH, which cannot be read.
 */
struct file *open_exec(int dfd, const char *name, int flags)
{
	struct open_how how = {.flags = O_RDONLY | __FMODE_EXEC | (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0)};
	struct file *file;
	int err;

	if (!*name && !(flags & AT_EMPTY_PATH))
		return ERR_PTR(-ENOENT);
	file = do_filp_open(dfd, name, how);
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
 * The first bytes decide. A format that does not know them returns -ENOEXEC and the next format is asked; any other
 * result is the answer. load_script() calls this again for its interpreter, so each call reads the file that is there
 * now.
 */
int search_binary_handler(struct binprm *bprm)
{
	loff_t pos = 0;
	ssize_t n;

	memset(bprm->buf, 0, BINPRM_BUF_SIZE);
	n = kernel_read(bprm->file, bprm->buf, BINPRM_BUF_SIZE, &pos);
	if (n < 0)
		return n == -EINVAL ? -EACCES : n; /* EINVAL: the file cannot be read at all, so it is no program */
	for (unsigned i = 0; i < ARRAY_SIZE(formats); i++) {
		int err = formats[i]->load(bprm);

		if (err != -ENOEXEC || bprm->point_of_no_return)
			return err;
	}
	return -ENOEXEC;
}

/*
 * Give back whatever this exec has gathered. An exec may fail at any step, so a part that it did not reach is NULL or
 * zero, and is skipped.
 */
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

/*
 * The name of the program, as AT_EXECFN and scripts get to see it. A path relative to a directory descriptor means
 * nothing to an interpreter, so it becomes "/dev/fd/N/name", or "/dev/fd/N" for the descriptor itself. *allocated is
 * for the caller to kfree. Returns 0 or -ENOMEM.
 */
static int name_program(struct binprm *bprm, int dfd, const char *name, char **allocated)
{
	bprm->filename = name;
	if (dfd == AT_FDCWD || *name == '/') {
		bprm->interp = bprm->filename;
		return 0;
	}
	bprm->inaccessible = fd_get_cloexec(dfd) > 0;
	*allocated = kasprintf(GFP_KERNEL, *name ? "/dev/fd/%d/%s" : "/dev/fd/%d", dfd, name);
	bprm->filename = bprm->interp = *allocated;
	return *allocated ? 0 : -ENOMEM;
}

/*
 * setuid(2) must not fail for want of processes, because programs do not expect it; so set_user() leaves the mark
 * PF_NPROC_EXCEEDED, and RLIMIT_NPROC is enforced here, where a failure is expected. Returns 0 or -errno. Does not
 * return when the exec fails past the point of no return: the process then dies of SIGSEGV.
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
	if (!err) {
		trace_sched_process_exec(current, old_pid, bprm->filename);
		if (unlikely(current->ptrace))
			debugger()->event(PTRACE_EVENT_EXEC, old_pid);
	}
free_bprm:
	dead = err && bprm->point_of_no_return;
	free_bprm(bprm);
	kfree(allocated);
	if (dead) /* there is no program to return the error to */
		do_group_exit(SIGSEGV);
	return err;
}

/*
 * A path from user space in a page of its own, which the caller frees. ERR_PTR: -EFAULT, -ENAMETOOLONG, -ENOMEM, and
 * -ENOENT for an empty path where that is not allowed.
 */
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

SYSCALL_DEFINE3(execve, const char __user *, filename, const char *const __user *, argv, const char *const __user *,
		envp)
{
	return execve_user(AT_FDCWD, filename, argv, envp, 0);
}

SYSCALL_DEFINE5(execveat, int, fd, const char __user *, filename, const char *const __user *, argv,
		const char *const __user *, envp, int, flags)
{
	if (flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return -EINVAL;
	return execve_user(fd, filename, argv, envp, flags);
}

/* For the first process, whose strings are the kernel's own. */
int kernel_execve(const char *path, const char *const *argv, const char *const *envp)
{
	return do_execve(AT_FDCWD, path, (struct user_strings){argv, true}, (struct user_strings){envp, true}, 0);
}

static const char *execute_command; /* init= */

static int exec_set_init(const char *value)
{
	execute_command = value;
	return *value ? 0 : -EINVAL;
}
__setup("init=", exec_set_init);

/*
 * Try one program as process 1. Most of the usual places do not exist, and that is no news; a file that is there and
 * cannot be run is worth a message. Returns 0 or -errno.
 */
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
 * With init= the administrator has named one program, so another one must not run in its place: the boot fails
 * instead. Without it the first of the usual places is taken.
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
