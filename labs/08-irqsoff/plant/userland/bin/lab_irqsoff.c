/*
 * lab_irqsoff WHAT N [SEED]: work of the kernel for which lab irqsoff measures how long interrupts are off. It prints
 * lines "lab: NUMBERS". The last one has a number that follows from the seed, which says that the program came to its
 * end; the longest time, in ns; and how often it was looked.
 *
 *	group N		N children of a group get a signal: how many of them have ended by it
 *	shared N	a shared mapping of N pages, of which some are written: a sum of all that is in three of them
 *	tasks N		the kernel shows all tasks, of which N are children: their pids
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <vt.h>

#define LATE "/sys/kernel/debug/lab/late"
#define PAGE 4096UL
#define MOST 4096

static pid_t child[MOST];

/* One write, and the file as it was opened: nothing but the work is measured. */
static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		vt_die(1, "%s: %s", path, strerror(errno));
	close(fd);
}

static void show_latest(unsigned long seed)
{
	char text[64] = "";
	int fd = open(LATE, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		vt_die(1, LATE ": %s", strerror(errno));
	close(fd);
	printf("lab: %lu %s", (seed * 6364136223846793005UL + 1442695040888963407UL) >> 33, text);
}

/* Children that wait for a signal. A pipe tells when the last of them has begun. */
static void have_children(long n)
{
	int ready[2];
	char c = 0;

	pipe(ready);
	for (long i = 0; i < n; i++) {
		child[i] = fork();
		if (child[i] < 0)
			vt_die(1, "fork: %s", strerror(errno));
		if (!child[i]) {
			signal(SIGUSR1, SIG_DFL);
			write(ready[1], &c, 1);
			for (;;)
				sleep(1000);
		}
	}
	for (long i = 0; i < n; i++)
		read(ready[0], &c, 1);
}

static void group(long n)
{
	long ended = 0;
	int status;

	setpgid(0, 0);
	signal(SIGUSR1, SIG_IGN);
	have_children(n);
	put(LATE, "1");
	kill(0, SIGUSR1);
	put(LATE, "0");
	while (wait(&status) > 0)
		ended += WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1;
	printf("lab: %ld\n", ended);
}

/* Memory is dirtied and freed first, so that what is handed out is not zero by chance. */
static void shared(long n)
{
	long pages[] = {0, n / 2, n - 1};
	unsigned long *area, sum = 0;

	for (int round = 0; round < 2; round++) {
		put(LATE, round ? "1" : "0");
		area = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		put(LATE, "0");
		if (area == MAP_FAILED)
			vt_die(1, "mmap: %s", strerror(errno));
		for (unsigned i = 0; i < 3; i++)
			for (unsigned at = 0; at < PAGE / 8; at++)
				sum += area[pages[i] * (PAGE / 8) + at];
		for (unsigned i = 0; i < 3; i++)
			area[pages[i] * (PAGE / 8) + i] = i + 1;
		munmap(area, n * PAGE);
	}
	printf("lab: %lu\n", sum);
}

static void tasks(long n)
{
	have_children(n);
	put(LATE, "1");
	put("/proc/sysrq-trigger", "t");
	put(LATE, "0");
	printf("lab:");
	for (long i = 0; i < n; i++)
		printf(" %d", child[i]);
	printf("\n");
	for (long i = 0; i < n; i++)
		kill(child[i], SIGKILL);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? vt_number_or_die(1, argv[2], 1, 1L << 20) : 1;
	unsigned long seed = argc > 3 ? vt_number_or_die(1, argv[3], 0, 1L << 30) : 0;

	if (!strcmp(what, "group") && n <= MOST)
		group(n);
	else if (!strcmp(what, "shared"))
		shared(n);
	else if (!strcmp(what, "tasks") && n <= MOST)
		tasks(n);
	else
		vt_die(2, "lab_irqsoff: what is '%s'?", what);
	show_latest(seed);
	return vt_finish(0);
}
