/*
 * Programs that the kernel starts by itself (<proc/umh.h>).
 *
 *	caller          asks, and waits for `done`
 *	umh thread      a kernel thread for this request: makes the child and waits for it
 *	child           begins as a kernel thread with nothing of the caller's, becomes the program by kernel_execve()
 *
 * The thread in between exists because a child needs a parent that waits for its status, and the caller's process must
 * not be that: it would find a child in its wait(2) that it has not made.
 *
 * The caller may be killed while it waits. So the request belongs to both, and the one that drops it last frees it.
 */
#include <kernel/export.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/umh.h>
#include <sched/sched.h>
#include <sched/wait.h>
#include <uapi/wait.h>

struct request {
	atomic_t users; /* the caller and the thread */
	int wait;	/* UMH_* */
	int result;	/* what the caller is told. Written before `done` */
	bool done;	/* store-release by the thread, load-acquire by the caller */
	wait_queue_head_t waiting;
	const char *path;
	char **argv, **envp; /* these and all strings: in one allocation, with the request */
};

static void umh_drop_request(struct request *req)
{
	if (!atomic_dec_return(&req->users))
		kfree(req);
}

static void umh_tell_caller(struct request *req, int result)
{
	req->result = result;
	smp_store_release(&req->done, true);
	wake_up_all(&req->waiting);
}

/*
 * The child, while it still is a kernel thread. 0: it becomes the program when this returns. The thread waits until
 * vfork's condition is met, so the request is there as long as it is looked at.
 */
static int become_program(void *arg)
{
	struct request *req = arg;
	int err = kernel_execve(req->path, (const char *const *)req->argv, (const char *const *)req->envp);

	if (!err)
		return 0;
	req->result = err;
	do_exit(0);
}

/*
 * CLONE_VFORK: the child has left what it shares with us when kernel_clone() returns, by its exec or by its end. Only
 * then may the answer to UMH_WAIT_EXEC be given.
 */
static int umh_run_program(void *arg)
{
	struct request *req = arg;
	struct kernel_clone_args args = {
		.flags = CLONE_VFORK, .fn = become_program, .fn_arg = req, .exit_signal = SIGCHLD};
	int status = 0, err;
	pid_t pid;

	current->flags |= PF_AWAITS_CHILDREN;
	req->result = 0;
	pid = kernel_clone(&args);
	err = pid < 0 ? pid : req->result;
	if (err || !(req->wait & UMH_WAIT_PROC))
		umh_tell_caller(req, err);
	if (pid > 0)
		kernel_wait4(pid, &status, __WALL, NULL);
	if (!err && (req->wait & UMH_WAIT_PROC))
		umh_tell_caller(req, status);
	umh_drop_request(req);
	return 0;
}

static size_t size_of_strings(char **strings, unsigned *n)
{
	size_t size = sizeof(*strings);

	for (*n = 0; strings[*n]; ++*n)
		size += sizeof(*strings) + strlen(strings[*n]) + 1;
	return size;
}

/* Copies the strings to *to, which moves behind them. The array for them is at `array`. */
static void umh_copy_strings(char **array, char **strings, char **to)
{
	for (; *strings; strings++) {
		size_t size = strlen(*strings) + 1;

		*array++ = memcpy(*to, *strings, size);
		*to += size;
	}
	*array = NULL;
}

/*
 * Everything in one allocation: the arrays, then the texts. Two users: the caller and the thread; the last one frees
 * it, since a caller that is killed does not wait. NULL: no memory.
 */
static struct request *new_request(const char *path, char **argv, char **envp, int wait)
{
	unsigned nr_args, nr_env;
	size_t size = sizeof(struct request) + strlen(path) + 1 + size_of_strings(argv, &nr_args) +
		      size_of_strings(envp, &nr_env);
	struct request *req = kmalloc(size, GFP_KERNEL);
	char *to;

	if (!req)
		return NULL;
	*req = (struct request){.wait = wait, .argv = (char **)(req + 1)};
	atomic_set(&req->users, 2);
	init_waitqueue_head(&req->waiting);
	req->envp = req->argv + nr_args + 1;
	to = (char *)(req->envp + nr_env + 1);
	umh_copy_strings(req->argv, argv, &to);
	umh_copy_strings(req->envp, envp, &to);
	req->path = memcpy(to, path, strlen(path) + 1);
	return req;
}

/*
 * The thread makes the child (umh_run_program); the caller waits for as long as `wait` says, and a thread that could
 * not be made is the one error that needs no wait.
 */
int call_usermodehelper(const char *path, char **argv, char **envp, int wait)
{
	struct request *req = new_request(path, argv, envp, wait);
	struct task_struct *thread;
	int ret = 0;

	if (!req)
		return -ENOMEM;
	thread = kthread_run(umh_run_program, req, "umh/%s", argv[0] ?: path);
	if (IS_ERR(thread)) {
		kfree(req);
		return PTR_ERR(thread);
	}
	if (wait & UMH_KILLABLE)
		ret = wait_event_killable(&req->waiting, smp_load_acquire(&req->done));
	else if (wait & (UMH_WAIT_EXEC | UMH_WAIT_PROC))
		wait_event(&req->waiting, smp_load_acquire(&req->done));
	if (ret)
		ret = -EINTR;
	else if (wait)
		ret = req->result;
	umh_drop_request(req);
	return ret;
}
EXPORT_SYMBOL(call_usermodehelper);
