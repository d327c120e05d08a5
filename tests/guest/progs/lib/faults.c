/* Running calls with faults, and comparing what is there before and after. */
#include <faults.h>
#include <fcntl.h>
#include <signal.h>

#define SETTINGS   "/sys/kernel/debug/"
#define MAX_FAULTS 4000
#define MAX_CACHES 96
#define ROUNDS	   3  /* what is left behind in each of them is a leak */
#define PATIENCE   60 /* looks, 20 ms apart, until workers have freed what has ended */

/* What is in use: objects of each slab cache, and KiB of pages and of addresses. */
struct use {
	int caches;
	struct {
		char name[24];
		long objects;
	} cache[MAX_CACHES];
	long pages, mapped;
};

void (*faults_before_look)(void);
static int nth_fd, slab_fd, memory_fd;
static unsigned now_nth, now_left;
static bool left_known;
static char text[65536], maps_before[8192], maps_after[8192];

unsigned faults_nth(void)
{
	return now_nth;
}

void faults_left(unsigned left)
{
	now_left = left;
	left_known = true;
}

void faults_close(int *fd)
{
	CHECK_CALL(close(*fd));
	*fd = -1;
}

long faults_write(const char *file, const char *text, int flags)
{
	long got = DO(openat, HERE, file, O_WRONLY | flags);
	int out = (int)got;

	if (got < 0)
		return got;
	got = DO(write, out, text, strlen(text));
	close(out);
	return got;
}

static void setting(const char *name, const char *value)
{
	check_put(name, value);
}

static void set_verbose(const char *value)
{
	setting(SETTINGS "failslab/verbose", value);
	setting(SETTINGS "fail_page_alloc/verbose", value);
}

/*
 * All allocations count, those that may sleep and single pages, too. A probability that no task is subject to
 * keeps the question in the kernel's text: changing that takes longer than a call.
 */
static void set_up(void)
{
	setting(SETTINGS "failslab/ignore-gfp-wait", "N");
	setting(SETTINGS "fail_page_alloc/ignore-gfp-wait", "N");
	setting(SETTINGS "fail_page_alloc/min-order", "0");
	setting(SETTINGS "failslab/task-filter", "Y");
	setting(SETTINGS "failslab/probability", "100");
	set_verbose("0");
	nth_fd = open("/proc/self/fail-nth", O_RDWR | O_CLOEXEC);
	slab_fd = open("/proc/slabinfo", O_RDONLY | O_CLOEXEC);
	memory_fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
	if (nth_fd < 0 || slab_fd < 0 || memory_fd < 0)
		vt_die_errno(2, "files of /proc");
}

static void tear_down(void)
{
	setting(SETTINGS "failslab/probability", "0");
	setting(SETTINGS "failslab/task-filter", "N");
	setting(SETTINGS "failslab/ignore-gfp-wait", "Y");
	setting(SETTINGS "fail_page_alloc/ignore-gfp-wait", "Y");
	setting(SETTINGS "fail_page_alloc/min-order", "1");
	set_verbose("2");
}

static void write_nth(unsigned n)
{
	char number[16];
	int len = sniprintf(number, sizeof(number), "%u", n);

	if (CALL(pwrite64, nth_fd, number, len) != len)
		vt_die_errno(2, "fail-nth");
}

static unsigned read_nth(void)
{
	char number[16] = "";

	if (CALL(pread64, nth_fd, number, sizeof(number) - 1, 0) <= 0)
		vt_die_errno(2, "fail-nth");
	return (unsigned)atol(number);
}

static char *read_all(int fd)
{
	size_t used = 0;
	ssize_t n;

	while ((n = CALL(pread64, fd, text + used, sizeof(text) - 1 - used, (off_t)used)) > 0)
		used += n;
	text[used] = 0;
	return text;
}

static long line_of(const char *name)
{
	const char *at = strstr(text, name);

	return at ? atol(at + strlen(name)) : 0;
}

/* The stack of a task that has ended waits for the next one: those are counted as free, with a guard page each. */
static void look(struct use *u)
{
	char *line, *end;

	if (faults_before_look)
		faults_before_look();
	line = read_all(slab_fd);
	for (u->caches = 0; *line && u->caches < MAX_CACHES; line = end + 1) {
		size_t len = strcspn(line, " ");

		end = strchr(line, '\n');
		if (!end)
			break;
		if (*line == '#' || !strncmp(line, "slabinfo", 8))
			continue;
		memset(u->cache[u->caches].name, 0, sizeof(u->cache[0].name));
		memcpy(u->cache[u->caches].name, line, len < 23 ? len : 23);
		u->cache[u->caches++].objects = atol(line + len);
	}
	read_all(memory_fd);
	u->pages = -line_of("MemFree:") - line_of("Slab:") - line_of("KernelStack:");
	u->mapped = line_of("VmallocUsed:") - line_of("KernelStack:") * 5 / 4;
}

/* Is more in use than was? `say`: print what. */
static bool has_grown(const struct use *was, const struct use *is, bool say)
{
	bool grown = false;

	for (int i = 0; i < is->caches && i < was->caches; i++) {
		long more = is->cache[i].objects - was->cache[i].objects;

		grown |= more > 0;
		if (say && more > 0)
			printf("    %s: %ld more objects\n", is->cache[i].name, more);
	}
	if (say && is->pages > was->pages)
		printf("    pages: %ld KiB more\n", is->pages - was->pages);
	if (say && is->mapped > was->mapped)
		printf("    vmalloc: %ld KiB more\n", is->mapped - was->mapped);
	return grown || is->pages > was->pages || is->mapped > was->mapped;
}

/* The same when workers have had their time. */
static bool stays_grown(const struct use *was, struct use *is)
{
	for (int i = 0; i < PATIENCE; i++) {
		look(is);
		if (!has_grown(was, is, false))
			return false;
		check_sleep(20000000);
	}
	return true;
}

static void read_maps(char *to)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, to, sizeof(maps_before) - 1);

	to[n > 0 ? n : 0] = 0;
	close(fd);
}

static int lowest_fd(void)
{
	int fd = dup(nth_fd);

	close(fd);
	return fd;
}

static void call_clean(const struct fault_step *s)
{
	long result;

	if (s->before)
		s->before(s);
	result = s->call(s);
	if (result < 0) {
		check_failures++;
		printf("  %s: fails with %s, without a fault\n", s->name, strerror((int)-result));
	} else if (s->undo) {
		s->undo(s);
	}
}

/* After a call that has failed: it left nothing behind, and the next one passes. */
static void check_failure(const struct fault_step *s, long result, int fd)
{
	int failures = check_failures;

	if (result != -ENOMEM && result != -s->also) {
		check_failures++;
		printf("  gives %s\n", strerror((int)-result));
	}
	if (s->survives)
		CHECK(!"it cannot fail");
	CHECK_EQ(lowest_fd(), fd);
	read_maps(maps_after);
	if (strcmp(maps_before, maps_after)) {
		check_failures++;
		printf("  its memory was\n%s  and is\n%s", maps_before, maps_after);
	}
	if (s->same)
		s->same(s);
	call_clean(s);
	if (check_failures != failures)
		printf("  %s: that was fault %u\n", s->name, now_nth);
}

/* One call with fault number now_nth. True: the call had fewer allocations than that. */
static bool call_with_fault(const struct fault_step *s)
{
	int fd;
	long result;

	if (s->before)
		s->before(s);
	fd = lowest_fd();
	read_maps(maps_before);
	left_known = false;
	now_left = 0;
	write_nth(now_nth);
	result = s->call(s);
	if (!left_known)
		now_left = read_nth();
	if (read_nth())
		write_nth(0);
	if (result < 0)
		check_failure(s, result, fd);
	else if (s->undo)
		s->undo(s);
	if (now_left && result < 0) {
		check_failures++;
		printf("  %s: fails without a fault\n", s->name);
	}
	return now_left > 0;
}

/* How many faults there were. */
static unsigned round_of(const struct fault_step *s)
{
	unsigned faults = 0;

	for (now_nth = 1; now_nth < MAX_FAULTS; now_nth += s->quick ? 1 + now_nth / 32 : 1, faults++)
		if (call_with_fault(s))
			return faults;
	check_failures++;
	printf("  %s: has no end of faults\n", s->name);
	return faults;
}

/* A round has left something behind each time: which fault does? The kernel tells where those are. */
static void find_leak(const struct fault_step *s, unsigned faults)
{
	static struct use was, is;

	for (now_nth = 1; now_nth <= faults; now_nth++) {
		look(&was);
		for (int i = 0; i < 4; i++)
			call_with_fault(s);
		if (!stays_grown(&was, &is))
			continue;
		printf("  %s: fault %u leaves behind, in four calls\n", s->name, now_nth);
		has_grown(&was, &is, true);
		fflush(stdout);
		set_verbose("2");
		call_with_fault(s);
		set_verbose("0");
	}
}

static void run_step(const struct fault_step *s, bool verbose)
{
	static struct use was, is;
	int failures = check_failures, rounds = 0;
	unsigned faults;
	bool grown;

	call_clean(s);
	call_clean(s);
	if (verbose) {
		set_verbose("2");
		round_of(s);
		set_verbose("0");
	}
	do {
		look(&was);
		faults = round_of(s);
		grown = check_failures == failures && stays_grown(&was, &is);
	} while (grown && ++rounds < ROUNDS);
	if (grown) {
		check_failures++;
		printf("  %s: leaves behind in a round of %u faults\n", s->name, faults);
		has_grown(&was, &is, true);
		find_leak(s, faults);
	}
	printf("%s: %u faults%s\n", s->name, faults, check_failures == failures ? "" : ", FAILED");
	fflush(stdout);
}

int faults_main(int argc, char **argv, const struct fault_step *steps, size_t n)
{
	bool verbose = argc > 1 && !strcmp(argv[1], "-v");
	int first = 1 + verbose;

	set_up();
	for (size_t i = 0; i < n; i++) {
		bool wanted = argc == first;

		for (int word = first; word < argc; word++)
			wanted |= !strcmp(argv[word], steps[i].name);
		if (wanted)
			run_step(&steps[i], verbose);
	}
	tear_down();
	return check_failures ? 1 : 0;
}
