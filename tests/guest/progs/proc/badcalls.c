/* badcalls: every system call with arguments that nobody should pass; the system must live and lose no
 * memory. */
#include <watch.h>
#include <numbers.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#define CALLS	 451 /* numbers 0 to 450 */
#define TRIES	 64  /* of each call in a pass */
#define PATIENCE 60  /* milliseconds until a waiting call is killed */
#define SLACK	 512 /* KiB that caches may have grown by */
#define GROWTHS	 2   /* passes of a run after which they may have grown by more */

/* Two pages, the second not mapped: so that arguments can end at the end of what there is. */
static char *page;
/* What the kernel has mapped: its own text, of which it can only read, and some of its data. */
static unsigned long kernel_text, kernel_data;

static unsigned long symbol(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	if (!at)
		vt_die(2, "no%s in /proc/kallsyms", name);
	while (at > text && at[-1] != '\n')
		at--;
	return strtoul(at, NULL, 16);
}

static void find_kernel(void)
{
	char *text = vt_read_file("/proc/kallsyms", NULL);

	if (!text)
		vt_die_errno(2, "/proc/kallsyms");
	kernel_text = symbol(text, " _text\n");
	kernel_data = symbol(text, " nodename\n");
	free(text);
}

static unsigned long argument(unsigned long *seed)
{
	const unsigned long end = (unsigned long)page + 4096;
	const unsigned long choices[] = {
		0,
		0,
		1,
		2,
		3,
		7,
		8,
		100,
		4096,
		~0UL,
		~0UL - 4095,
		1UL << 31,
		1UL << 63,
		0x7fffffff,
		0xffffffff,
		/* the kernel's: mapped, and where other layouts have it */
		kernel_text,
		kernel_text + 8,
		kernel_data,
		0xffff000000000000UL,
		0xffff800000000000UL,
		0xffffffff80000000UL,
		/* others */
		0x0000ffffffffff00UL,
		0x0001000000000000UL,
		0x123456789abcdef0UL,
		0x10,
		0x1001,
		(unsigned long)page,
		(unsigned long)page + 1,
		end - 1,
		end - 4,
		end - 8,
		end - 16,
		end,
	};
	unsigned long r = watch_random(seed);

	return r % 16 == 0 ? r >> 8 : choices[(r >> 4) % ARRAY_SIZE(choices)];
}

/*
 * kill and its kin end processes that are none of ours when the numbers happen to be right: they get only
 * signals that do not exist. Everything else is called as it comes.
 */
static bool is_kill(long nr)
{
	return nr == SYS_kill || nr == SYS_tkill || nr == SYS_tgkill;
}

static void one_call(long nr, unsigned long seed)
{
	long a[6];
	pid_t me = getpid();

	for (int i = 0; i < 6; i++)
		a[i] = (long)argument(&seed);
	if (is_kill(nr)) {
		a[1] = a[1] % 3 ? 0 : 1000;
		a[2] = a[2] % 3 ? 0 : 1000;
	}
	if (nr == SYS_reboot) /* with both magic numbers it is a good call */
		a[0] &= 0xffff;
	vt_syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	/* clone may have worked. */
	if ((pid_t)vt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) != me)
		vt_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
}

static void prepare_child(void)
{
	int null = open("/dev/null", O_RDWR);

	setpgid(0, 0);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
	memset(page, 0xff, 4096);
}

struct tally {
	long calls, died, killed;
};

/* Run tries from..to of call nr in one child, as far as it gets; returns the number of the next. */
static int some_calls(long nr, int from, unsigned long seed, volatile int *progress, struct tally *t)
{
	bool killed;
	pid_t pid;
	int status, fd[2];

	if (pipe(fd))
		vt_die_errno(2, "pipe");
	pid = check_fork();
	if (pid == 0) {
		fcntl(fd[1], F_DUPFD, 200); /* out of the reach of most numbers */
		prepare_child();
		for (int i = from; i < TRIES; i++) {
			write(200, "", 1);
			one_call(nr, seed + (unsigned long)(nr * TRIES + i) * 0x9e3779b97f4a7c15UL);
		}
		vt_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
	}
	close(fd[1]);
	status = watch_child(pid, PATIENCE, &killed);
	watch_sweep(pid);
	t->killed += killed;
	t->died += !killed && WIFSIGNALED(status);
	/* A byte for each call begun. */
	for (char c[TRIES]; (status = (int)read(fd[0], c, sizeof(c))) > 0;)
		from += status;
	close(fd[0]);
	*progress = from;
	return from;
}

static void pass(unsigned long seed, struct tally *t)
{
	for (long nr = 0; nr < CALLS; nr++) {
		long killed = t->killed;
		volatile int at = 0;

		/* A call that waits is seen to be killable a few times, not each time. */
		for (int last = -1; at < TRIES && at != last && t->killed - killed < 2;) {
			last = at;
			some_calls(nr, at, seed, &at, t);
			t->calls += at - last;
		}
	}
}

/* KiB that are free: all pages, and those that the buddy allocator has. */
struct memory {
	long free, buddy;
};

static struct memory memory_now(void)
{
	return (struct memory){.free = watch_free_memory(), .buddy = watch_buddy_memory()};
}

static bool fell(const struct memory *from, const struct memory *to)
{
	return to->free < from->free - SLACK || to->buddy < from->buddy - SLACK;
}

/*
 * One pass, and what is free afterwards. On a busy host children wait longer and more of them live at once, so that the
 * caches of a pass may be larger than those of the one before. They do not grow each time, but a leak does: after
 * memory fell the pass is made again, and compared with what was free before that.
 */
static struct memory watched_pass(unsigned long seed, struct tally *t, struct memory *before, int *growths)
{
	struct memory after;

	pass(seed, t);
	for (after = memory_now(); fell(before, &after) && *growths < GROWTHS; after = memory_now()) {
		++*growths;
		*before = after;
		pass(seed, t);
	}
	return after;
}

/* badcalls [SEED [MINUTES]] */
int main(int argc, char **argv)
{
	unsigned long seed = argc > 1 ? (unsigned long)vt_number_or_die(2, argv[1], 1, 1L << 40) : 1;
	long minutes = argc > 2 ? vt_number_or_die(2, argv[2], 0, 100000) : 0, end;
	struct memory before, after;
	int growths = 0;
	struct tally t = {0};

	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || munmap(page + 4096, 4096))
		vt_die_errno(2, "mmap");
	find_kernel();
	watch_init();
	end = check_now() + minutes * 60000000000L;
	pass(seed, &t); /* caches fill */
	before = memory_now();
	do {
		after = watched_pass(seed, &t, &before, &growths);
		CHECK_RANGE(after.free, before.free - SLACK, 1L << 40);
		CHECK_RANGE(after.buddy, before.buddy - SLACK, 1L << 40);
		seed += minutes ? 1000003 : 0;
	} while (check_now() < end && !check_failures);
	printf("badcalls: %ld calls, %ld children died, %ld waited and were killed, %ld KiB free, were %ld\n", t.calls,
	       t.died, t.killed, after.free, before.free);
	CHECK_RANGE(t.calls, CALLS * TRIES, 1L << 50);
	return vt_finish(check_failures ? 1 : 0);
}
