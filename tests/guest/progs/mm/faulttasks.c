/*
 * faulttasks [-v] [STEP]...: calls about memory, processes and signals in which each allocation fails once
 * (lib/faults.h).
 */
#include "faultcalls.h"
#include <signal.h>
#include <sys/mman.h>
#include <thread.h>
#include <tracee.h>

static char *area;

/* ---- Memory */

static void unmap(const struct fault_step *s)
{
	CHECK_CALL(CALL(munmap, area, 16 * PAGE));
}

static void map(const struct fault_step *s)
{
	area = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(area, 1, 16 * PAGE);
}

static long map_with(int file, long flags)
{
	long at = DO(mmap, 0, 16 * PAGE, PROT_READ, flags, file, 0);

	area = (char *)at;
	return at;
}

static long map_private(const struct fault_step *s)
{
	return map_with(-1, MAP_PRIVATE | MAP_ANONYMOUS);
}

static long map_shared(const struct fault_step *s)
{
	return map_with(-1, MAP_SHARED | MAP_ANONYMOUS);
}

static long map_file(const struct fault_step *s)
{
	return map_with(old_fd, MAP_SHARED);
}

static long protect(const struct fault_step *s)
{
	return DO(mprotect, area + 4 * PAGE, 2 * PAGE, PROT_READ);
}

static long unmap_middle(const struct fault_step *s)
{
	return DO(munmap, area + 4 * PAGE, 2 * PAGE);
}

static long remap(const struct fault_step *s)
{
	long at = DO(mremap, area, 16 * PAGE, 600 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, area - (1L << 31));

	if (at > 0)
		area = (char *)at;
	return at;
}

static void unmap_large(const struct fault_step *s)
{
	CHECK_EQ(area[0], 1);
	CHECK_EQ(area[16 * PAGE - 1], 1);
	CHECK_CALL(CALL(munmap, area, 600 * PAGE));
}

/* What a failed call has left: all of it, as it was filled. */
static void filled(const struct fault_step *s)
{
	for (long i = 0; i < 16 * PAGE; i += 512) {
		area[i]++;
		CHECK_EQ(area[i], 2);
		area[i]--;
	}
	unmap(s);
}

static void map_untouched(const struct fault_step *s)
{
	area = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Page faults of the kernel and of the program are repeated until there is a page. */
static long touch(const struct fault_step *s)
{
	area[PAGE] = 1;
	return DO(pread64, old_fd, area, 1, 0);
}
/* ---- Processes */

static void reap(pid_t pid)
{
	CHECK_EQ(check_wait(pid), 0);
}

static pid_t child;

static long fork_it(const struct fault_step *s)
{
	long pid = DO(clone, SIGCHLD, 0);

	if (pid == 0)
		CALL(exit_group, 0);
	child = (pid_t)pid;
	return pid;
}

static long vfork_it(const struct fault_step *s)
{
	long pid = DO(clone, SIGCHLD | 0x4000, 0); /* CLONE_VFORK with memory of its own */

	if (pid == 0)
		CALL(exit_group, 0);
	child = (pid_t)pid;
	return pid;
}

static long pidfd_fork(const struct fault_step *s)
{
	long pid = DO(clone, SIGCHLD | 0x1000, 0, &fd);

	if (pid == 0)
		CALL(exit_group, 0);
	child = (pid_t)pid;
	return pid;
}

static void no_child(const struct fault_step *s)
{
	CHECK_ERRNO(waitpid(-1, NULL, WNOHANG), ECHILD);
}

static void reap_and_unmap(const struct fault_step *s)
{
	unmap(s);
	reap(child);
}

static void no_child_and_unmap(const struct fault_step *s)
{
	filled(s);
	no_child(s);
}

static void reap_it(const struct fault_step *s)
{
	reap(child);
}

static void reap_pidfd(const struct fault_step *s)
{
	reap(child);
	close_it(s);
}

static void thread_body(void *arg)
{
}

static long thread_it(const struct fault_step *s)
{
	long tid = thread_try_in_group(thread_body, NULL);

	child = (pid_t)tid;
	return tid;
}

static void thread_ends(const struct fault_step *s)
{
	for (int i = 0; i < 5000 && thread_state(getpid(), child); i++)
		check_sleep(MS);
}

/*
 * The child counts for itself: 0, it fails and says so; what the program behind it ends with tells whether there was
 * a fault. From the point of no return on it is killed, as on Linux.
 */
#define WAS_REFUSED 40
#define NO_FAULT    41
#define WAS_FAULT   42
#define WRONG	    43
static long exec_it(const struct fault_step *s)
{
	static char *argv[] = {"faulttasks", "after-exec", "a word", NULL}, *envp[] = {"A=B", NULL};
	long pid = DO(clone, SIGCHLD, 0);
	long result;
	int status;

	if (pid == 0) {
		char number[16];
		int len = sniprintf(number, sizeof(number), "%u", faults_nth());
		int nth = open("/proc/self/fail-nth", O_RDWR);

		if (CALL(pwrite64, nth, number, len, 0) != len)
			_exit(WRONG);
		result = DO(execve, s->a, argv, envp);
		_exit(result == -ENOMEM ? WAS_REFUSED : (int)(64 - result));
	}
	if (pid < 0)
		return pid;
	status = check_wait((pid_t)pid);
	if (status >> 8 >= WRONG || (status & 0x7f && status != SIGKILL && status != SIGSEGV)) {
		check_failures++;
		printf("  fault %u: the child has ended with %#x\n", faults_nth(), status);
	}
	faults_left(status == NO_FAULT << 8);
	return 0;
}

static int after_exec(void)
{
	char number[16] = "";
	int nth = open("/proc/self/fail-nth", O_RDONLY);

	CALL(pread64, nth, number, sizeof(number) - 1, 0);
	return atol(number) ? NO_FAULT : WAS_FAULT;
}

/* A child with the files of its parent, and nothing else of it. */
static long clone_files(const struct fault_step *s)
{
	long pid = DO(clone, SIGCHLD | 0x400 | 0x200, 0);

	if (pid == 0)
		CALL(exit_group, 0);
	child = (pid_t)pid;
	return pid;
}

static long affinity(const struct fault_step *s)
{
	unsigned long mask = 1;

	return DO(sched_setaffinity, 0, 8, &mask);
}

static long policy_it(const struct fault_step *s)
{
	int priority = 5;

	return DO(sched_setscheduler, 0, 1, &priority);
}

static void policy_back(const struct fault_step *s)
{
	int priority = 0;

	CHECK_CALL(CALL(sched_setscheduler, 0, 0, &priority));
}

static void policy_same(const struct fault_step *s)
{
	CHECK_EQ(CALL(sched_getscheduler, 0), 0);
}

static void start_child(const struct fault_step *s)
{
	child = sleeper();
}

static void end_child(const struct fault_step *s)
{
	finish(child);
}

static long seize(const struct fault_step *s)
{
	return faults_result(pt(PT_SEIZE, child, 0, 0));
}

static long peek(const struct fault_step *s)
{
	struct iov to = {room, 64}, from = {room, 64};

	return DO(process_vm_readv, child, &to, 1, &from, 1, 0);
}

static long queue_signal(const struct fault_step *s)
{
	long info[16] = {SIGUSR1, (unsigned)-1};

	return DO(rt_sigqueueinfo, getpid(), SIGUSR1, info);
}

static void take_signal(const struct fault_step *s)
{
	unsigned long set = 1UL << (SIGUSR1 - 1);
	long soon[2] = {1, 0};

	CHECK_EQ(CALL(rt_sigtimedwait, &set, 0, soon, 8), SIGUSR1);
}

static void no_signal(const struct fault_step *s)
{
	CHECK(!pending(SIGUSR1));
}

static long kill_it(const struct fault_step *s)
{
	return DO(kill, getpid(), SIGUSR1);
}

static long futex_it(const struct fault_step *s)
{
	static unsigned word = 1;
	long soon[2] = {0, 1000000}, got = DO(futex, &word, 0, 1, soon);

	return got == -ETIMEDOUT ? 0 : got;
}

static int timer_id;

static long timer_it(const struct fault_step *s)
{
	return DO(timer_create, 1, 0, &timer_id);
}

static void delete_timer(const struct fault_step *s)
{
	CHECK_CALL(CALL(timer_delete, timer_id));
}

static long groups_it(const struct fault_step *s)
{
	static unsigned groups[300];

	for (unsigned i = 0; i < 300; i++)
		groups[i] = i;
	return DO(setgroups, 300, groups);
}

static void groups_none(const struct fault_step *s)
{
	CHECK_CALL(CALL(setgroups, 0, 0));
}

static void groups_same(const struct fault_step *s)
{
	CHECK_EQ(CALL(getgroups, 0, 0), 0);
}

static long setsid_child(const struct fault_step *s)
{
	return DO(setpgid, child, child);
}

static long setuid_it(const struct fault_step *s)
{
	return DO(setresuid, 1234, 0, 0);
}

static void setuid_back(const struct fault_step *s)
{
	CHECK_CALL(CALL(setresuid, 0, 0, 0));
}

static const struct fault_step steps[] = {
	STEP("mmap, private", map_private, NULL, unmap, NULL),
	STEP("mmap, shared", map_shared, NULL, unmap, NULL),
	STEP("mmap, a file", map_file, NULL, unmap, NULL),
	STEP("mprotect", protect, map, unmap, filled),
	STEP("munmap", unmap_middle, map, unmap, filled),
	STEP("mremap", remap, map, unmap_large, filled),
	STEP("page faults", touch, map_untouched, unmap, NULL, .survives = true),
	STEP("fork", fork_it, map, reap_and_unmap, no_child_and_unmap),
	STEP("vfork", vfork_it, NULL, reap_it, no_child),
	STEP("fork with a pidfd", pidfd_fork, NULL, reap_pidfd, no_child),
	STEP("fork with shared files", clone_files, NULL, reap_it, no_child),
	STEP("sched_setaffinity", affinity, NULL, NULL, NULL),
	STEP("sched_setscheduler", policy_it, NULL, policy_back, policy_same),
	STEP("a thread", thread_it, NULL, thread_ends, no_child),
	STEP("execve", exec_it, NULL, NULL, no_child, .a = "/bin/faulttasks"),
	STEP("execve, a script", exec_it, NULL, NULL, no_child, .a = "script"),
	STEP("ptrace", seize, start_child, end_child, end_child),
	STEP("process_vm_readv", peek, start_child, end_child, end_child),
	STEP("setpgid", setsid_child, start_child, end_child, end_child),
	STEP("rt_sigqueueinfo", queue_signal, NULL, take_signal, no_signal, .also = EAGAIN),
	STEP("kill", kill_it, NULL, take_signal, NULL, .survives = true),
	STEP("futex", futex_it, NULL, NULL, NULL),
	STEP("timer_create", timer_it, NULL, delete_timer, NULL, .also = EAGAIN),
	STEP("setgroups", groups_it, NULL, groups_none, groups_same),
	STEP("setresuid", setuid_it, NULL, setuid_back, NULL, .also = EAGAIN),
};

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "after-exec"))
		return after_exec();
	fault_calls_prepare();
	check_put("script", "#!/bin/faulttasks after-exec\n");
	CALL(fchmodat, HERE, "script", 0755);
	BLOCK(SIGUSR1);
	return faults_main(argc, argv, steps, sizeof(steps) / sizeof(*steps));
}
