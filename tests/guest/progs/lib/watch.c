/* Waiting for children that may do anything, and what memory there is afterwards. */
#include <watch.h>
#include <numbers.h>
#include <signal.h>

#define SIGCHLD_SET (1UL << (SIGCHLD - 1))

void watch_init(void)
{
	sigset_t set = SIGCHLD_SET;

	if (sigprocmask(SIG_BLOCK, &set, NULL))
		vt_die_errno(2, "sigprocmask");
}

/* Wait at most ms milliseconds for the child's end. False: it has not ended. */
static bool ended(pid_t pid, long ms, int *status)
{
	sigset_t set = SIGCHLD_SET;
	long end = check_now() + ms * 1000000, left;

	*status = 0;
	while (waitpid(pid, status, WNOHANG) == 0) {
		left = end - check_now();
		if (left <= 0)
			return false;
		/* Woken by SIGCHLD, whoever it is from; a stopped child sends one too. */
		check_syscall(SYS_rt_sigtimedwait, (long)&set, 0,
			      (long)&(struct timespec){.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000},
			      sizeof(set), 0, 0);
	}
	return true;
}

static int kill_child(pid_t pid)
{
	kill(-pid, SIGKILL);
	kill(pid, SIGKILL);
	return check_wait(pid);
}

int watch_child(pid_t pid, long ms, bool *killed)
{
	int status;

	*killed = !ended(pid, ms, &status);
	return *killed ? kill_child(pid) : status;
}

int watch_steps(pid_t pid, long ms, const volatile int *steps)
{
	int status, before;

	do {
		before = *steps;
		if (ended(pid, ms, &status))
			return status;
	} while (*steps != before);
	return kill_child(pid);
}

void watch_sweep(pid_t group)
{
	kill(-group, SIGKILL);
	while (waitpid(-group, NULL, 0) > 0)
		;
}

static long field(const char *path, const char *name)
{
	char *text = vt_read_file(path, NULL), *at = text ? strstr(text, name) : NULL;
	long value = at ? atol(at + strlen(name)) : -1;

	free(text);
	if (value < 0)
		vt_die(2, "no %s in %s", name, path);
	return value;
}

/* What ended tasks held may be given back a grace period later: the figure is taken when it has stood still.
 */
long watch_free_memory(void)
{
	long now = field("/proc/meminfo", "MemFree:"), before;

	do {
		before = now;
		check_sleep(20000000);
		now = field("/proc/meminfo", "MemFree:");
	} while (now != before);
	return now;
}

long watch_missing(long before, long few)
{
	long missing = before - watch_free_memory();

	for (int i = 0; i < 300 && missing > few; i++) {
		check_sleep(100000000);
		missing = before - watch_free_memory();
	}
	return missing;
}

/* "Node 0, zone   Normal      3      1 ...": free blocks of each order. */
long watch_buddy_memory(void)
{
	char *text = vt_read_file("/proc/buddyinfo", NULL), *line = text;
	long total = 0;

	if (!text)
		vt_die_errno(2, "/proc/buddyinfo");
	while ((line = strstr(line, "zone"))) {
		line += 4 + strspn(line + 4, " ");
		line += strcspn(line, " \n");
		line += strspn(line, " ");
		for (int order = 0; *line >= '0' && *line <= '9'; order++) {
			total += strtol(line, &line, 10) * 4 << order;
			line += strspn(line, " ");
		}
	}
	free(text);
	return total;
}

unsigned long watch_random(unsigned long *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dUL;
}
