/*
 * lab_race WHAT SEED: what lab race is done and graded with. It has /dev/rtc interrupt at a rate, for a number of reads
 * at times, that follow from the seed, and prints how many interrupts were due by the clock and how many the reads have
 * returned. A last line has a number that follows from the seed, which says that the program came to its end. WHAT:
 *
 *	one	one process reads
 *	two	so do two at once; run it with two CPUs
 *	bad	each second read is to an address that is not mapped
 *	fresh	each read is to a page that was never used before
 *	cost	how many instructions a read takes, over one of /dev/null that reads nothing (with ICOUNT=1)
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <vt.h>

#define RTC_PIE_ON   0x7005
#define RTC_PIE_OFF  0x7006
#define RTC_IRQP_SET 0x4008700c
#define PAGE	     4096
#define LEAD	     1300 /* ns that the last look at the clock is before an interrupt, at least */
#define SPREAD	     120  /* turns of a loop that follow it, at most */
#define ROUNDS	     6
#define MISSING	     3
#define MANY	     200

static int fd;
static long rate, period, reads;
static long begun;  /* when the interrupts were switched on */
static long filled; /* reads that have returned a number */
static unsigned receipt;
static char *fresh; /* NULL: reads go to one place */

/* Knuth's linear congruential generator (MMIX). */
static uint64_t state;

static uint32_t race_random(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 33;
}

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Wait for one to four interrupts, so that the next read comes at about the time of the last of them. */
static void wait_for_some(void)
{
	long since = now() - begun, until = begun + since / period * period + period * (1 + race_random() % 4) - LEAD;

	while (now() < until)
		;
	for (volatile unsigned i = race_random() % SPREAD; i; i--)
		;
}

static void switch_or_die(unsigned long what)
{
	if (ioctl(fd, what, 0))
		vt_die_errno(1, "/dev/rtc");
}

/* What a read returns; 0: nothing yet. */
static unsigned long taken(void)
{
	static unsigned long place;
	unsigned long *n = &place;

	if (fresh) {
		n = (unsigned long *)fresh;
		fresh += PAGE;
	}
	if (read(fd, n, sizeof(*n)) == sizeof(*n)) {
		filled++;
		return *n;
	}
	if (errno != EAGAIN)
		vt_die_errno(1, "/dev/rtc");
	return 0;
}

/* A read that can store nothing. */
static void read_badly(void)
{
	if (read(fd, (void *)8, sizeof(long)) != -1 || (errno != EFAULT && errno != EAGAIN))
		vt_die(1, "a read to a bad address: no EFAULT");
}

static unsigned long some_reads(bool bad)
{
	unsigned long sum = 0;

	for (long i = 0; i < reads; i++) {
		wait_for_some();
		if (bad && i % 2)
			read_badly();
		else
			sum += taken();
	}
	return sum;
}

/* Without a pause: another CPU comes at any time. */
static unsigned long many_reads(void)
{
	unsigned long sum = 0;

	for (long i = 0; i < MANY * reads; i++)
		sum += taken();
	return sum;
}

static void run_on(int number)
{
	cpu_set_t cpu = {};

	CPU_SET(number, &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu))
		vt_die_errno(1, "two CPUs");
}

/* Two processes that read the same device, each on its CPU; they begin when both are there. */
static unsigned long two_at_once(void)
{
	volatile unsigned long *sum = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();

	run_on(!child);
	sum[3 + !child] = 1;
	while (!sum[3 + !!child])
		sched_yield();
	sum[!child] = many_reads();
	if (!child) {
		sum[2] = filled;
		_exit(0);
	}
	waitpid(child, NULL, 0);
	filled += sum[2];
	return sum[0] + sum[1];
}

/* In the middle between two interrupts: how many were due until then. */
static long interrupts_due(void)
{
	long t;

	do {
		t = (now() - begun) % period;
	} while (t < period * 3 / 8 || t > period / 2);
	return (now() - begun) / period;
}

/* Reads until some interrupts are missing, but not for ever. */
static unsigned long one_process(void)
{
	unsigned long sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		long due;

		sum += some_reads(false);
		due = interrupts_due();
		sum += taken();
		if (due - (long)sum >= MISSING)
			break;
	}
	return sum;
}

static int run(const char *what)
{
	unsigned long sum;
	long due;

	/* The interrupts come to the CPU that has switched them on: all that were due have come when we go on. */
	run_on(0);
	switch_or_die(RTC_PIE_ON);
	begun = now();
	if (!strcmp(what, "one"))
		sum = one_process();
	else
		sum = strcmp(what, "two") ? some_reads(!strcmp(what, "bad")) : two_at_once();
	due = interrupts_due();
	switch_or_die(RTC_PIE_OFF);
	sum += taken();
	printf("race: rate %ld reads %ld interrupts %ld returned %lu lost %ld\n", rate, filled, due, sum,
	       due - (long)sum);
	printf("race: receipt %u\n", receipt);
	return vt_finish(0);
}

/* The least of many, so that no interrupt is in it. fd: read 8 bytes when the device has some. */
static long least(int from, bool pending)
{
	long best = 1000000, n;

	for (int i = 0; i < 200; i++) {
		long t = now(), until = t + period * 5 / 4;

		while (pending && now() < until)
			;
		t = now();
		if (read(from, &n, pending ? sizeof(n) : 0) < 0)
			vt_die_errno(1, "read");
		t = now() - t;
		best = t < best ? t : best;
	}
	return best;
}

static int cost(void)
{
	int null = open("/dev/null", O_RDONLY);
	long with, without = least(null, false);

	switch_or_die(RTC_PIE_ON);
	with = least(fd, true);
	switch_or_die(RTC_PIE_OFF);
	printf("race: read %ld null %ld\nrace: receipt %u\n", with, without, receipt);
	return vt_finish(0);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		vt_die(2, "lab_race one|two|bad|fresh|cost SEED");
	state = (uint64_t)vt_number_or_die(2, argv[2], 0, 1L << 30) * 1000003 + 13;
	for (int i = 0; i < 3; i++)
		race_random();
	rate = 110000 + race_random() % 30000;
	period = 1000000000 / rate;
	reads = 110 + race_random() % 40;
	receipt = (state * 6364136223846793005ULL + 1442695040888963407ULL) >> 33;
	if (!strcmp(argv[1], "fresh"))
		fresh = mmap(NULL, (reads + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fd = open("/dev/rtc", O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		vt_die_errno(1, "/dev/rtc");
	if (ioctl(fd, RTC_IRQP_SET, rate))
		vt_die_errno(1, "/dev/rtc: rate");
	return strcmp(argv[1], "cost") ? run(argv[1]) : cost();
}
