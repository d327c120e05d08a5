/*
 * lab_cow WHAT SEED N [K]: what lab cow is graded with. N pages hold numbers that follow from the seed. Each WHAT
 * prints lines `lab: NUMBERS` that the grader knows from elsewhere. The last number of each line is a sum of the memory
 * as the process then sees it: a program that was ended early, and a line that only looks like its own, do not have it.
 *
 *	isolation	four generations that share the pages and write some: the number of each
 *	shared		the same of a shared mapping
 *	lazy		pages that are gone after a fork, while the child waits
 *	writes		of a child that writes K pages: faults, pages gone, kB private and kB shared of the area
 *	last		of a parent that writes K pages after its child has ended: faults, pages gone, and how many of
 *			the K lie in another frame than before
 *	by_kernel	parent and child after a read(2) into the child's pages
 *	leak		pages that are gone after K forks with writes
 *	cost		nanoseconds of a fork, _exit and wait
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <vt.h>

#define PAGE 4096UL

static unsigned char *area;
static unsigned long pages, seed;

/* Argument `at`, 0 where there is none. */
static unsigned long number(int argc, char **argv, int at)
{
	return at < argc ? vt_number_or_die(1, argv[at], 0, 1L << 40) : 0;
}

static void map(unsigned long n, int flags)
{
	pages = n;
	area = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		vt_die(1, "mmap: %s", strerror(errno));
}

/* A word of each page holds what follows from the seed and from who wrote it last. */
static void write_page(unsigned long page, unsigned long writer)
{
	*(unsigned long *)(area + page * PAGE + 8 * (page % 500)) = seed * 1000003 + page * 31 + writer;
}

static unsigned long sum(void)
{
	unsigned long total = 0;

	for (unsigned long page = 0; page < pages; page++)
		total = total * 33 + *(unsigned long *)(area + page * PAGE + 8 * (page % 500));
	return total & 0xffffffff;
}

static void write_all(void)
{
	for (unsigned long page = 0; page < pages; page++)
		write_page(page, 0);
}

static pid_t fork_or_die(void)
{
	pid_t pid = fork();

	if (pid < 0)
		vt_die(1, "fork: %s", strerror(errno));
	return pid;
}

/* Generation g writes every page whose number is g modulo 4, before its child runs and again after it. */
static void generation(unsigned g)
{
	pid_t child = g < 3 ? fork_or_die() : -1;

	if (child == 0) {
		generation(g + 1);
		_exit(0);
	}
	for (unsigned long page = g; page < pages; page += 4)
		write_page(page, g + 1);
	if (child > 0)
		waitpid(child, NULL, 0);
	printf("lab: %u %lu\n", g, sum());
	fflush(stdout);
}

static long free_pages(void)
{
	struct sysinfo info;

	sysinfo(&info);
	return info.freeram / PAGE;
}

static long faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_minflt;
}

/* kB of this kind in the area, as /proc/self/smaps tells it. */
static long smaps_kb(const char *kind)
{
	char line[256];
	FILE *f = fopen("/proc/self/smaps", "r");
	bool mine = false;
	long kb = 0, value;

	if (!f)
		vt_die(1, "/proc/self/smaps: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		unsigned long start, end;

		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			mine = start <= (unsigned long)area && (unsigned long)area < end;
		else if (mine && !strncmp(line, kind, strlen(kind)) &&
			 sscanf(line + strlen(kind), "_Clean: %ld", &value) == 1)
			kb += value;
		else if (mine && !strncmp(line, kind, strlen(kind)) &&
			 sscanf(line + strlen(kind), "_Dirty: %ld", &value) == 1)
			kb += value;
	}
	fclose(f);
	return kb;
}

static void lazy(void)
{
	int ready[2], go[2];
	long before;
	char c = 0;

	if (pipe(ready) || pipe(go))
		vt_die(1, "pipe: %s", strerror(errno));
	before = free_pages();
	if (!fork_or_die()) {
		write(ready[1], &c, 1);
		read(go[0], &c, 1);
		_exit(0);
	}
	read(ready[0], &c, 1);
	printf("lab: %ld %lu\n", before - free_pages(), sum());
	write(go[1], &c, 1);
	wait(NULL);
}

static void writes(unsigned long k)
{
	if (!fork_or_die()) {
		long free, fault;

		smaps_kb("Private"); /* what stdio wants is its own by now */
		printf("begin\n");
		fflush(stdout);
		free = free_pages();
		fault = faults();
		for (unsigned long page = 0; page < k; page++)
			write_page(page * pages / k, 2);
		fault = faults() - fault;
		free -= free_pages();
		printf("lab: %ld %ld %ld %ld %lu\n", fault, free, smaps_kb("Private"), smaps_kb("Shared"), sum());
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
}

/* The frame behind each of the K pages that are written, from /proc/self/pagemap: 64 bits for a page, 55 of them. */
static void frames(unsigned long *frame, unsigned long k)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);

	for (unsigned long i = 0; i < k; i++) {
		off_t at = ((unsigned long)area / PAGE + i * pages / k) * 8;

		if (lseek(fd, at, SEEK_SET) < 0 || read(fd, &frame[i], 8) != 8)
			vt_die(1, "/proc/self/pagemap: %s", strerror(errno));
		frame[i] &= (1UL << 55) - 1;
	}
	close(fd);
}

#define MOST_FRAMES 256

static void last(unsigned long k)
{
	unsigned long before[MOST_FRAMES], after[MOST_FRAMES], moved = 0;
	long free, fault;

	if (!fork_or_die())
		_exit(0);
	wait(NULL);
	frames(before, k);
	free = free_pages();
	fault = faults();
	for (unsigned long page = 0; page < k; page++)
		write_page(page * pages / k, 3);
	fault = faults() - fault;
	free -= free_pages();
	frames(after, k);
	for (unsigned long i = 0; i < k; i++)
		moved += before[i] != after[i];
	printf("lab: %ld %ld %lu %lu\n", fault, free, moved, sum());
}

/* A file of N pages whose bytes are all 7, read into the child's pages: it is the kernel that writes there. */
static void by_kernel(void)
{
	int fd = open("/tmp/lab_cow", O_RDWR | O_CREAT | O_TRUNC, 0600);
	char page[PAGE];

	memset(page, 7, PAGE);
	for (unsigned long i = 0; i < pages; i++)
		if (write(fd, page, PAGE) != (ssize_t)PAGE)
			vt_die(1, "/tmp/lab_cow: %s", strerror(errno));
	lseek(fd, 0, SEEK_SET);
	if (!fork_or_die()) {
		if (read(fd, area, pages * PAGE) != (ssize_t)(pages * PAGE))
			vt_die(1, "read: %s", strerror(errno));
		printf("lab: child %lu\n", sum());
		fflush(stdout);
		_exit(0);
	}
	wait(NULL);
	printf("lab: parent %lu\n", sum());
}

static void rounds(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		if (!fork_or_die()) {
			for (unsigned long page = i % 3; page < pages; page += 3)
				write_page(page, i + 4);
			_exit(0);
		}
		write_page(i % pages, i + 5);
		wait(NULL);
	}
}

static void leak(unsigned long n)
{
	long before;

	rounds(5);
	before = free_pages();
	rounds(n);
	printf("lab: %ld %lu\n", before - free_pages(), sum());
}

static void cost(void)
{
	struct timespec a, b;

	rounds(3);
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (int i = 0; i < 10; i++) {
		if (!fork_or_die())
			_exit(0);
		wait(NULL);
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("lab: %ld %lu\n", ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec) / 10, sum());
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned long n = number(argc, argv, 3), k = number(argc, argv, 4);

	seed = number(argc, argv, 2);
	map(n, strcmp(what, "shared") ? MAP_PRIVATE : MAP_SHARED);
	write_all();
	if (!strcmp(what, "isolation") || !strcmp(what, "shared"))
		generation(0);
	else if (!strcmp(what, "lazy"))
		lazy();
	else if (!strcmp(what, "writes"))
		writes(k);
	else if (!strcmp(what, "last"))
		last(k);
	else if (!strcmp(what, "by_kernel"))
		by_kernel();
	else if (!strcmp(what, "leak"))
		leak(k);
	else if (!strcmp(what, "cost"))
		cost();
	else
		vt_die(2, "lab_cow: what is '%s'?", what);
	return vt_finish(0);
}
