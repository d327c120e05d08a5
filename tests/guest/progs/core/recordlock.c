/*
 * recordlock: the lock of trace-record and trace-fn (userland/lib/trace/tracelock.c), taken over from a dead owner by
 * several processes at once. Of those that get it no two may have it at the same time.
 */
#include <check.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <vt_trace.h>

#define LOCK	"/run/trace.lock"
#define CLAIMS	6
#define ROUNDS	60
#define REFUSED 77

struct shared {
	volatile int ready, go; /* all claims begin together */
	int inside, most, times;
};

static void claim(struct shared *s)
{
	int inside;

	prctl(PR_SET_NAME, (unsigned long)"trace-record", 0, 0, 0); /* an owner of another name counts as dead */
	freopen("/dev/null", "w", stderr);
	__atomic_add_fetch(&s->ready, 1, __ATOMIC_SEQ_CST);
	while (!s->go)
		check_sleep(100000);
	vt_trace_lock(REFUSED);
	inside = __atomic_add_fetch(&s->inside, 1, __ATOMIC_SEQ_CST);
	if (inside > s->most)
		s->most = inside;
	s->times++;
	check_sleep(2000000);
	__atomic_sub_fetch(&s->inside, 1, __ATOMIC_SEQ_CST);
	vt_trace_unlock();
	_exit(0);
}

/* A pid that nothing has any more. */
static pid_t dead_pid(void)
{
	pid_t pid = check_fork();

	if (pid == 0)
		_exit(0);
	CHECK_EQ(check_wait(pid), 0);
	return pid;
}

/* Links of dead owners: the lock itself, and for `depth` above 1 the locks of its removal. */
static void leave_stale(int depth)
{
	char name[64] = LOCK, pid[24];

	snprintf(pid, sizeof(pid), "%d", (int)dead_pid());
	for (int i = 0; i < depth; i++, strcat(name, ".old"))
		CHECK_EQ(symlink(pid, name), 0);
}

static void contend(int depth)
{
	struct shared *s = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char target[24];
	pid_t pids[CLAIMS];

	CHECK(s != MAP_FAILED);
	for (int round = 0; round < ROUNDS && !check_failures; round++) {
		int status, got = 0;

		memset(s, 0, sizeof(*s));
		leave_stale(depth);
		for (int i = 0; i < CLAIMS; i++) {
			pids[i] = check_fork();
			if (pids[i] == 0)
				claim(s);
		}
		while (s->ready < CLAIMS)
			check_sleep(100000);
		s->go = 1;
		for (int i = 0; i < CLAIMS; i++) {
			CHECK_EQ(waitpid(pids[i], &status, 0), pids[i]);
			CHECK(status == 0 || status == REFUSED << 8);
			got += status == 0;
		}
		CHECK(got >= 1);
		CHECK_EQ(s->most, 1);
		for (char name[64] = LOCK; strlen(name) < 40; strcat(name, ".old"))
			CHECK(readlink(name, target, sizeof(target)) < 0); /* all are gone */
	}
}

static void lock_left_behind(void)
{
	contend(1);
}

static void removal_left_behind(void)
{
	contend(3);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"lock-left-behind", lock_left_behind},
		{"removal-left-behind", removal_left_behind},
	};

	check_seconds = 120;
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
