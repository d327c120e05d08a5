/*
 * dlcalls: SCHED_DEADLINE's system calls: what they take, refuse and tell, admission on one CPU, fork, exec and exit.
 */
#include <deadline.h>
#include <limits.h>
#include <numbers.h>
#include <signal.h>

#define SYSCTL(name) "/proc/sys/kernel/sched_" name

static void write_number(const char *path, long number, int wanted)
{
	char text[24];
	int fd = (int)CHECK_CALL(open(path, O_WRONLY));

	sprintf(text, "%ld", number);
	if (wanted)
		CHECK_ERRNO(write(fd, text, strlen(text)), wanted);
	else
		CHECK_EQ(write(fd, text, strlen(text)), (long)strlen(text));
	close(fd);
}

/* Every parameter out of range; nothing changes. */
static void bad_parameters(void)
{
	static const struct {
		long runtime, deadline, period;
	} bad[] = {
		{0, 0, 0},
		{1023, 10 * MS, 10 * MS},
		{10 * MS, 0, 0},
		{10 * MS, 0, 10 * MS}, /* the period does not stand for the deadline */
		{10 * MS + 1, 10 * MS, 10 * MS},
		{MS, 10 * MS + 1, 10 * MS},
		{10 * US, 99 * US, 99 * US},
		{MS, MS, (1L << 22) * 1000 + 1},
		{MS, MS, LONG_MIN},
		{MS, LONG_MIN, 0},
		{LONG_MIN, LONG_MIN, LONG_MIN},
		{MS, LONG_MAX, LONG_MAX},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (!CHECK_ERRNO(set_deadline(0, bad[i].runtime, bad[i].deadline, bad[i].period, 0), EINVAL))
			printf("  in line %u\n", (unsigned)i);
	CHECK_ERRNO(set_deadline(-1, MS, 10 * MS, 0, 0), EINVAL);
	CHECK_ERRNO(set_deadline(0x3ffffff, MS, 10 * MS, 0, 0), ESRCH);
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, SCHED_FLAG_RECLAIM), EINVAL);
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, 0x20), EOPNOTSUPP);
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, 0x80), EINVAL);
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, 0x10000000), EINVAL);
	CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
	/* The ends of the ranges. */
	CHECK_EQ(set_deadline(0, 1024, 100 * US, 0, 0), 0);
	CHECK_EQ(set_deadline(0, 1024, 1024, (1L << 22) * 1000, 0), 0);
	CHECK_EQ(set_deadline(0, MS, MS, 100 * MS, 0), 0);
	CHECK_EQ(sched_getscheduler(0), SCHED_DEADLINE);
}

static void bad_structures(void)
{
	struct sched_param param = {.sched_priority = 0};
	struct {
		struct sched_attr attr;
		unsigned extra;
	} big = {.attr = {.size = sizeof(big), .sched_policy = SCHED_OTHER}};
	struct sched_attr attr = {.size = sizeof(attr)};

	CHECK_EQ(sched_setattr(0, &big.attr, 0), 0); /* what we do not know is zero */
	big.extra = 1;
	CHECK_ERRNO(sched_setattr(0, &big.attr, 0), E2BIG);
	CHECK_EQ(big.attr.size, sizeof(attr));
	attr.size = 47;
	CHECK_ERRNO(sched_setattr(0, &attr, 0), E2BIG);
	CHECK_EQ(attr.size, sizeof(attr));
	attr.size = 5000;
	CHECK_ERRNO(sched_setattr(0, &attr, 0), E2BIG);
	attr.size = 48;
	CHECK_EQ(sched_setattr(0, &attr, 0), 0);
	attr.size = 0;
	CHECK_EQ(sched_setattr(0, &attr, 0), 0);
	CHECK_ERRNO(sched_setattr(0, &attr, 1), EINVAL);
	CHECK_ERRNO(sched_setattr(0, NULL, 0), EINVAL);
	CHECK_ERRNO(sched_setattr(0, (void *)16, 0), EFAULT);
	attr.sched_policy = 4;
	CHECK_ERRNO(sched_setattr(0, &attr, 0), EINVAL);
	attr = (struct sched_attr){.size = 48, .sched_policy = 0x80000000};
	CHECK_ERRNO(sched_setattr(0, &attr, 0), EINVAL);
	attr = (struct sched_attr){.size = 48, .sched_flags = 0x20};
	CHECK_ERRNO(sched_setattr(0, &attr, 0), EINVAL); /* too small for what the flag tells of */
	attr = (struct sched_attr){.size = 48,
				   .sched_policy = SCHED_DEADLINE,
				   .sched_priority = 1,
				   .sched_runtime = MS,
				   .sched_deadline = 10 * MS};
	CHECK_ERRNO(sched_setattr(0, &attr, 0), EINVAL);
	CHECK_ERRNO(sched_setscheduler(0, SCHED_DEADLINE, &param), EINVAL);
	CHECK_ERRNO(sched_getattr(0, &attr, 47, 0), EINVAL);
	CHECK_ERRNO(sched_getattr(0, &attr, 5000, 0), EINVAL);
	CHECK_ERRNO(sched_getattr(0, &attr, 56, 1), EINVAL);
	CHECK_ERRNO(sched_getattr(0, NULL, 56, 0), EINVAL);
	CHECK_ERRNO(sched_getattr(-1, &attr, 56, 0), EINVAL);
	CHECK_ERRNO(sched_getattr(0x3ffffff, &attr, 56, 0), ESRCH);
	CHECK_ERRNO(sched_getattr(0, (void *)16, 56, 0), EFAULT);
}

static void what_it_tells(void)
{
	struct sched_param param = {.sched_priority = 9};
	struct sched_attr attr;

	CHECK_EQ(sched_get_priority_max(SCHED_DEADLINE), 0);
	CHECK_EQ(sched_get_priority_min(SCHED_DEADLINE), 0);
	CHECK_EQ(set_deadline(0, 2 * MS, 5 * MS, 0, SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_DL_OVERRUN), 0);
	CHECK_EQ(sched_getscheduler(0), SCHED_DEADLINE | SCHED_RESET_ON_FORK);
	CHECK_EQ(sched_getparam(0, &param), 0);
	CHECK_EQ(param.sched_priority, 0);
	CHECK_ERRNO(sched_setparam(0, &param), EINVAL); /* no deadline in it */
	memset(&attr, 0xff, sizeof(attr));
	CHECK_EQ(sched_getattr(0, &attr, 48, 0), 0);
	CHECK_EQ(attr.size, 48);
	CHECK_EQ(attr.sched_util_max, 0xffffffff); /* not written to */
	CHECK_EQ(sched_getattr(0, &attr, sizeof(attr), 0), 0);
	CHECK_EQ(attr.size, sizeof(attr));
	CHECK_EQ(attr.sched_policy, SCHED_DEADLINE);
	CHECK_EQ(attr.sched_flags, SCHED_FLAG_RESET_ON_FORK | SCHED_FLAG_DL_OVERRUN);
	CHECK_EQ(attr.sched_runtime, 2 * MS);
	CHECK_EQ(attr.sched_deadline, 5 * MS);
	CHECK_EQ(attr.sched_period, 5 * MS);
	CHECK_EQ(attr.sched_util_max, 0);
	/* Keep the policy, and reset-on-fork with it; change the parameters. */
	attr.sched_policy = SCHED_FIFO;
	attr.sched_flags = SCHED_FLAG_KEEP_POLICY;
	attr.sched_runtime = 3 * MS;
	CHECK_EQ(sched_setattr(0, &attr, 0), 0);
	CHECK_EQ(sched_getattr(0, &attr, sizeof(attr), 0), 0);
	CHECK_EQ(attr.sched_policy, SCHED_DEADLINE);
	CHECK_EQ(attr.sched_flags, SCHED_FLAG_RESET_ON_FORK);
	CHECK_EQ(attr.sched_runtime, 3 * MS);
	/* The other way round. */
	attr.sched_flags = SCHED_FLAG_KEEP_PARAMS;
	attr.sched_runtime = 4 * MS;
	CHECK_EQ(sched_setattr(0, &attr, 0), 0);
	CHECK_EQ(sched_getattr(0, &attr, sizeof(attr), 0), 0);
	CHECK_EQ(attr.sched_flags, 0);
	CHECK_EQ(attr.sched_runtime, 3 * MS);
}

/* Its column 18 of /proc/self/stat is -101. */
static void its_priority(void)
{
	char text[512], *at;
	long priority = 0;
	int fd, n;

	be_deadline(MS, 10 * MS, 10 * MS);
	fd = (int)CHECK_CALL(open("/proc/self/stat", O_RDONLY));
	n = (int)CHECK_CALL(read(fd, text, sizeof(text) - 1));
	text[n > 0 ? n : 0] = '\0';
	at = strrchr(text, ')');
	for (int column = 2; at && column < 18; column++)
		at = strchr(at + 1, ' ');
	if (at)
		priority = strtol(at, NULL, 10);
	CHECK_EQ(priority, -101);
}

static void not_root(void)
{
	CHECK_CALL(check_syscall(SYS_setuid, 1000, 0, 0, 0, 0, 0));
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, 0), EPERM);
	CHECK_ERRNO(set_deadline(0, 1, 10 * MS, 0, 0), EINVAL); /* looked at first */
}

/* 95 % of a CPU and not a microsecond more. */
static void admission(void)
{
	pid_t child;
	int go[2], done[2];

	CHECK_ERRNO(set_deadline(0, 950001 * US, 1000 * MS, 0, 0), EBUSY);
	CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
	CHECK_EQ(set_deadline(0, 950 * MS, 1000 * MS, 0, 0), 0);
	CHECK_EQ(set_deadline(0, 450 * MS, 1000 * MS, 0, SCHED_FLAG_RESET_ON_FORK), 0);
	CHECK_CALL(pipe(go));
	CHECK_CALL(pipe(done));
	child = check_fork();
	if (child == 0) {
		CHECK_ERRNO(set_deadline(0, 500002 * US, 1000 * MS, 0, 0), EBUSY);
		CHECK_EQ(set_deadline(0, 500 * MS, 1000 * MS, 0, 0), 0);
		check_give(done[1], 'd');
		check_take(go[0]);
		_exit(check_failures);
	}
	check_take(done[0]);
	CHECK_ERRNO(set_deadline(0, 450002 * US, 1000 * MS, 0, 0), EBUSY);
	CHECK_EQ(set_deadline(0, 450 * MS, 1000 * MS, 0, 0), 0);
	/* The limit cannot fall below what is promised. */
	write_number(SYSCTL("rt_runtime_us"), 940000, EBUSY);
	write_number(SYSCTL("rt_period_us"), 2000000, EBUSY);
	check_give(go[1], 'g');
	CHECK_EQ(check_wait(child), 0);
	CHECK_EQ(set_deadline(0, 950 * MS, 1000 * MS, 0, 0), 0);
}

static void sysctls(void)
{
	write_number(SYSCTL("rt_runtime_us"), -2, EINVAL);
	write_number(SYSCTL("rt_runtime_us"), 1000001, EINVAL);
	write_number(SYSCTL("rt_period_us"), 0, EINVAL);
	write_number(SYSCTL("rt_period_us"), 949999, EINVAL);
	write_number(SYSCTL("deadline_period_min_us"), (1 << 22) + 1, EINVAL);
	write_number(SYSCTL("deadline_period_max_us"), 99, EINVAL);
	write_number(SYSCTL("deadline_period_min_us"), -1, EINVAL);
	write_number(SYSCTL("rt_runtime_us"), 0, 0);
	CHECK_ERRNO(set_deadline(0, MS, 10 * MS, 0, 0), EPERM);
	write_number(SYSCTL("rt_runtime_us"), 500000, 0);
	CHECK_ERRNO(set_deadline(0, 501 * MS, 1000 * MS, 0, 0), EBUSY);
	CHECK_EQ(set_deadline(0, 500 * MS, 1000 * MS, 0, 0), 0);
	write_number(SYSCTL("rt_runtime_us"), -1, 0); /* no limit */
	CHECK_EQ(set_deadline(0, 1000 * MS, 1000 * MS, 0, 0), 0);
	write_number(SYSCTL("rt_runtime_us"), 950000, EBUSY);
	be(SCHED_OTHER, 0);
	write_number(SYSCTL("rt_runtime_us"), 950000, 0);
	write_number(SYSCTL("deadline_period_min_us"), 10000, 0);
	CHECK_ERRNO(set_deadline(0, MS, 9 * MS, 0, 0), EINVAL);
	CHECK_EQ(set_deadline(0, MS, 10 * MS, 0, 0), 0);
	write_number(SYSCTL("deadline_period_min_us"), 100, 0);
	write_number(SYSCTL("deadline_period_max_us"), 10000, 0);
	CHECK_ERRNO(set_deadline(0, MS, MS, 11 * MS, 0), EINVAL);
	write_number(SYSCTL("deadline_period_max_us"), 1 << 22, 0);
}

/* All of the bandwidth, a thousand times, given back in each way there is. */
static void given_back(void)
{
	pid_t child;
	int ready[2];
	char byte;

	CHECK_CALL(pipe(ready));
	for (int i = 0; i < 1000 && !check_failures; i++) {
		child = check_fork();
		if (child == 0) {
			CHECK_EQ(set_deadline(0, 950 * MS, 1000 * MS, 0, 0), 0);
			if (i % 3 == 0)
				be(i % 2 ? SCHED_FIFO : SCHED_OTHER, i % 2);
			if (write(ready[1], "r", 1) != 1 || i % 3 == 1)
				_exit(check_failures);
			for (;;)
				check_sleep(1000 * MS);
		}
		CHECK_EQ(read(ready[0], &byte, 1), 1);
		if (i % 3 == 0)
			CHECK_EQ(set_deadline(0, 950 * MS, 1000 * MS, 0, 0), 0);
		if (i % 3 != 1)
			CHECK_CALL(kill(child, SIGKILL));
		CHECK_EQ(check_wait(child), i % 3 == 1 ? 0 : SIGKILL);
		be(SCHED_OTHER, 0);
	}
}

static void forks(void)
{
	char *self[] = {"dlcalls", "exec-keeps", NULL};
	pid_t child;

	be_deadline(5 * MS, 10 * MS, 10 * MS);
	CHECK_ERRNO(fork(), EAGAIN);
	CHECK_EQ(set_deadline(0, 5 * MS, 10 * MS, 0, SCHED_FLAG_RESET_ON_FORK), 0);
	child = check_fork();
	if (child == 0) {
		CHECK_EQ(sched_getscheduler(0), SCHED_OTHER);
		be_deadline(5 * MS, 20 * MS, 20 * MS);
		fflush(stdout);
		execve("/bin/dlcalls", self, environ);
		_exit(9);
	}
	CHECK_EQ(check_wait(child), 0);
	be(SCHED_OTHER, 0);
}

/* What dlcalls does when it is run by the case above. */
static int exec_keeps(void)
{
	struct sched_attr attr;

	CHECK_EQ(sched_getattr(0, &attr, sizeof(attr), 0), 0);
	CHECK_EQ(attr.sched_policy, SCHED_DEADLINE);
	CHECK_EQ(attr.sched_period, 20 * MS);
	return check_failures;
}

/* A dead task cannot be promised anything, for nobody would give it back. */
static void zombies(void)
{
	pid_t child = check_fork();

	if (child == 0)
		_exit(0);
	check_sleep(50 * MS);
	CHECK_ERRNO(set_deadline(child, MS, 10 * MS, 0, 0), ESRCH);
	CHECK_EQ(check_wait(child), 0);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"bad-parameters", bad_parameters},
		{"bad-structures", bad_structures},
		{"tells", what_it_tells},
		{"priority", its_priority},
		{"not-root", not_root},
		{"admission", admission},
		{"sysctls", sysctls},
		{"given-back", given_back},
		{"forks", forks},
		{"zombies", zombies},
	};

	if (argc == 2 && !strcmp(argv[1], "exec-keeps"))
		return exec_keeps();
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
