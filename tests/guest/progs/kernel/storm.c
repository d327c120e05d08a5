/* storm: system calls of many kinds on every CPU until SIGTERM; a wrong answer ends it with status 1. */
#include <check.h>
#include <numbers.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	stop = 1;
}

static void getppid_calls(pid_t parent)
{
	for (int i = 0; i < 50; i++)
		CHECK_EQ(check_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0), parent);
}

static void pipe_bytes(const int *ends, unsigned seed)
{
	unsigned char out[64], in[64];

	for (unsigned i = 0; i < sizeof(out); i++)
		out[i] = (unsigned char)(seed * 31 + i);
	CHECK_EQ(write(ends[1], out, sizeof(out)), sizeof(out));
	CHECK_EQ(read(ends[0], in, sizeof(in)), sizeof(in));
	CHECK(!memcmp(out, in, sizeof(in)));
}

static void own_name(void)
{
	char name[32] = "";
	int fd = CHECK_CALL(open("/proc/self/comm", O_RDONLY));

	CHECK_EQ(read(fd, name, sizeof(name) - 1), 6);
	CHECK(!strcmp(name, "storm\n"));
	CHECK_EQ(close(fd), 0);
}

static void map_page(unsigned seed)
{
	unsigned *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!CHECK(page != MAP_FAILED))
		return;
	CHECK_EQ(page[5], 0);
	page[1024] = seed;
	CHECK_EQ(page[1024], seed);
	CHECK_EQ(munmap(page, 8192), 0);
}

static void child_status(unsigned seed)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(seed & 127);
	CHECK_CALL(pid);
	CHECK_EQ(check_wait(pid), (seed & 127) << 8);
}

/* `rounds` 0: until it is stopped. */
static int one_cpu(int cpu, long rounds)
{
	pid_t parent = getppid();
	int ends[2];
	unsigned round = 0;

	check_pin(cpu);
	CHECK_CALL(pipe(ends));
	while (!stop && !check_failures && (!rounds || round < rounds)) {
		getppid_calls(parent);
		pipe_bytes(ends, ++round);
		if (round % 4 == 0)
			own_name();
		map_page(round);
		if (round % 8 == 0)
			child_status(round);
		sched_yield();
	}
	printf("storm: cpu %d: %u rounds\n", cpu, round);
	return vt_finish(check_failures ? 1 : 0);
}

/* storm TASKS [ROUNDS]; task i runs on CPU i modulo their number. Says "storm: started" when all are under
 * way. */
int main(int argc, char **argv)
{
	long tasks = argc > 1 ? vt_number_or_die(2, argv[1], 1, 64) : 1;
	long rounds = argc > 2 ? vt_number_or_die(2, argv[2], 0, 1000000000) : 0;
	struct sigaction act = {.sa_handler = on_term};
	int cpus = check_cpus(), bad = 0;
	pid_t pids[64];

	if (sigaction(SIGTERM, &act, NULL))
		vt_die_errno(2, "sigaction");
	for (long i = 0; i < tasks; i++) {
		pids[i] = check_fork();
		if (pids[i] == 0)
			return one_cpu((int)(i % cpus), rounds);
	}
	printf("storm: started\n");
	fflush(stdout);
	for (long i = 0; i < tasks;) {
		int status;
		pid_t pid = wait(&status);

		if (pid > 0) {
			bad |= status != 0;
			i++;
		} else if (errno != EINTR) {
			break;
		}
		/* Our own SIGTERM is theirs as well; one that has ended meanwhile is no matter. */
		for (long j = 0; stop && j < tasks; j++)
			kill(pids[j], SIGTERM);
	}
	printf("storm: %s\n", bad ? "something was wrong" : "all well");
	return vt_finish(bad);
}
