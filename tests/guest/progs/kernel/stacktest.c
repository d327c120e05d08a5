/* stacktest: programs whose stack the kernel walks (option userstacktrace): one to be walked right, many that lie. */
#include <check.h>
#include <fcntl.h>
#include <numbers.h>
#include <sys/mman.h>
#include <thread.h>
#include <watch.h>

#define MARKER	"/sys/kernel/tracing/trace_marker"
#define PAGE	4096UL
#define NOSTACK 16UL /* a stack pointer below everything */

/* ---- chain: main -> outer -> middle -> inner -> getppid, and then it waits to be looked at. */

static unsigned long callers[3];

static void __attribute__((noinline, noclone)) inner(void)
{
	callers[0] = (unsigned long)__builtin_return_address(0);
	vt_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
	__asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline, noclone)) middle(void)
{
	callers[1] = (unsigned long)__builtin_return_address(0);
	inner();
	__asm__ volatile("" ::: "memory");
}

static void __attribute__((noinline, noclone)) outer(void)
{
	callers[2] = (unsigned long)__builtin_return_address(0);
	middle();
	__asm__ volatile("" ::: "memory");
}

/* Where the area that holds this address begins, as /proc/self/maps has it. */
static unsigned long area_start(unsigned long addr)
{
	unsigned long start, end;
	char line[256];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && addr >= start && addr < end) {
			fclose(maps);
			return start;
		}
	printf("no area holds %lx\n", addr);
	exit(1);
}

static void wait_to_be_looked_at(void)
{
	printf("ready\n");
	fflush(stdout);
	for (;;)
		check_sleep(1000000000);
}

static void chain(void)
{
	outer();
	for (unsigned i = 0; i < 3; i++)
		printf("caller %016lx %lx\n", callers[i], callers[i] - area_start(callers[i]));
	wait_to_be_looked_at();
}

/* ---- threads: two of this process, which end before it does. */

static volatile int ended;

static void short_thread(void *arg)
{
	const long time[2] = {0, 1000000};

	for (int i = 0; i < 5; i++)
		vt_syscall(SYS_nanosleep, (long)time, 0, 0, 0, 0, 0);
	__atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
}

static void threads(void)
{
	for (int i = 0; i < 2; i++)
		printf("thread %d %d\n", thread_start_in_group(short_thread, NULL), getpid());
	while (ended < 2)
		check_sleep(1000000);
	wait_to_be_looked_at();
}

/* ---- sleepers: two of this process, for as long as somebody looks at them. */

static void sleeping_thread(void *arg)
{
	for (;;)
		check_sleep(1000000000);
}

static void sleepers(void)
{
	for (int i = 0; i < 2; i++)
		thread_start_in_group(sleeping_thread, NULL);
	sleeping_thread(NULL);
}

/* ---- hostile: each case tells the trace what its stack must be shown as, and enters the kernel with that frame. */

/* getppid() with these frame and stack pointers. No signal may come. */
static void enter(unsigned long fp, unsigned long sp)
{
#ifdef __aarch64__
	register unsigned long nr __asm__("x8") = SYS_getppid, frame __asm__("x11") = fp, stack __asm__("x12") = sp;

	__asm__ volatile("mov x9, x29\n\tmov x10, sp\n\tmov x29, %1\n\tmov sp, %2\n\tsvc #0\n\t"
			 "mov sp, x10\n\tmov x29, x9"
			 :
			 : "r"(nr), "r"(frame), "r"(stack)
			 : "x0", "x9", "x10", "memory");
#else
	register unsigned long frame __asm__("r14") = fp, stack __asm__("r15") = sp;
	unsigned long nr = SYS_getppid;

	__asm__ volatile("mov %%rbp, %%r12\n\tmov %%rsp, %%r13\n\tmov %1, %%rbp\n\tmov %2, %%rsp\n\tsyscall\n\t"
			 "mov %%r13, %%rsp\n\tmov %%r12, %%rbp"
			 : "+a"(nr)
			 : "r"(frame), "r"(stack)
			 : "rcx", "r11", "r12", "r13", "memory");
#endif
}

static int marker;

/* `n` callers are to be seen: first, first + 1, ... */
static void tell(const char *name, unsigned long first, unsigned n)
{
	char text[256];
	int len = snprintf(text, sizeof(text), "case %s", name);

	for (unsigned i = 0; i < n; i++)
		len += snprintf(text + len, sizeof(text) - len, " %016lx", first + i);
	CHECK_EQ(write(marker, text, len), len);
}

static void try(const char *name, unsigned long fp, unsigned long first, unsigned n)
{
	tell(name, first, n);
	enter(fp, NOSTACK);
}

static unsigned long frames[300] __attribute__((aligned(16)));

/* The record at frames[i] leads to `next` and says that its caller is `caller`. */
static unsigned long record(unsigned i, unsigned long next, unsigned long caller)
{
	frames[i] = next;
	frames[i + 1] = caller;
	return (unsigned long)&frames[i];
}

static void chains(void)
{
	unsigned long at = (unsigned long)frames;

	try("self", record(0, at, 0x1000), 0x1000, 1);
	record(2, at, 0x2001);
	try("circle", record(0, at + 16, 0x2000), 0x2000, 2);
	try("falling", record(2, at, 0x3000), 0x3000, 1);
	try("touching", record(0, at + 8, 0x4000), 0x4000, 1);
	try("to-kernel", record(0, 0xffff800000001000, 0x5000), 0x5000, 1);
	try("to-nowhere", record(0, 0x10, 0x6000), 0x6000, 1);
	try("no-caller", record(0, at + 16, 0), 0, 0);
	try("misaligned", record(0, 0, 0x7000) + 1, 0, 0);
	for (unsigned i = 0; i < 100; i++)
		record(2 * i, at + 16 * (i + 1), 0x8000 + i);
	try("long", at, 0x8000, 7);
	tell("below-sp", 0, 0);
	enter(at, at + 16);
}

static void addresses(void)
{
	static const unsigned long bad[] = {
		0,
		8,
		PAGE,
		0xffffffffffffffff,
		0xfffffffffffffff8,
		0xfffffffffffffff0,
		0xffff800000000000,
		0xffff000000000000,
		0xffffffff80000000,
		0xffffff8000000000,
		0x0000800000000000,
		0x00007ffffffffff8,
		0x00007ffffffffff0,
		0x00007fffffffeff8,
		0x0000fffffffffff8,
		0x0001000000000000,
		0x8000000000000000,
		0x4141414141414141,
	};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char name[32];

		snprintf(name, sizeof(name), "address-%lx", bad[i]);
		try(name, bad[i], 0, 0);
	}
}

static void mappings(void)
{
	char *area = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long *end = (unsigned long *)(area + PAGE) - 2;

	CHECK(area != MAP_FAILED);
	try("untouched", (unsigned long)area + PAGE, 0, 0);
	CHECK_CALL(munmap(area + PAGE, PAGE));
	end[0] = (unsigned long)area + PAGE;
	end[1] = 0x9000;
	try("end-of-area", (unsigned long)end, 0x9000, 1);
	try("half-a-record", (unsigned long)(end + 1), 0, 0);
	CHECK_CALL(check_syscall(SYS_mprotect, (long)area, PAGE, 0, 0, 0, 0));
	try("no-rights", (unsigned long)end, 0, 0);
	CHECK_CALL(munmap(area, 3 * PAGE));
	try("gone", (unsigned long)end, 0, 0);
}

/* The caller is the first byte of this program's code: it is of the file mapped there, not of what lies below. */
static void first_byte(void)
{
	unsigned long start = area_start((unsigned long)first_byte);

	enter(record(0, 0, start), NOSTACK);
	printf("caller %016lx 0\n", start);
	wait_to_be_looked_at();
}

static int hostile(void)
{
	marker = CHECK_CALL(open(MARKER, O_WRONLY));
	chains();
	addresses();
	mappings();
	return check_failures != 0;
}

/* ---- storm: threads whose frames lie in memory that another one takes away and brings back. */

#define STORM_PAGES  8UL
#define STORM_ROUNDS 3000

static char *area;

static void lying_thread(void *arg)
{
	unsigned long state = (unsigned long)arg;

	for (int i = 0; i < STORM_ROUNDS; i++) {
		unsigned long at = watch_random(&state);

		enter(at % 16 ? (unsigned long)area + at / 16 % (STORM_PAGES * PAGE) / 8 * 8 : at, NOSTACK);
	}
}

static void mapping_thread(void *arg)
{
	unsigned long state = 3;

	for (int i = 0; i < STORM_ROUNDS / 4; i++) {
		char *at = area + watch_random(&state) % STORM_PAGES * PAGE;

		vt_syscall(SYS_munmap, (long)at, PAGE, 0, 0, 0, 0);
		vt_syscall(SYS_mmap, (long)at, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			   -1, 0);
		for (unsigned long *word = (unsigned long *)at; word < (unsigned long *)(at + PAGE); word += 2) {
			word[0] = (unsigned long)(word + 2 + watch_random(&state) % 64 * 2);
			word[1] = watch_random(&state) | 1;
		}
		vt_syscall(SYS_mprotect, (long)at, PAGE, watch_random(&state) % 4 ? PROT_READ : 0, 0, 0, 0);
	}
}

static int storm(void)
{
	pid_t pids[4];

	area = mmap(NULL, STORM_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(area != MAP_FAILED);
	pids[0] = thread_start(-1, mapping_thread, NULL);
	for (unsigned long i = 1; i < 4; i++)
		pids[i] = thread_start(-1, lying_thread, (void *)(i + 10));
	CHECK(thread_join(pids, 4));
	return check_failures != 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "chain"))
		chain();
	if (argc == 2 && !strcmp(argv[1], "first-byte"))
		first_byte();
	if (argc == 2 && !strcmp(argv[1], "threads"))
		threads();
	if (argc == 2 && !strcmp(argv[1], "sleepers"))
		sleepers();
	if (argc == 2 && !strcmp(argv[1], "hostile"))
		return hostile();
	if (argc == 2 && !strcmp(argv[1], "storm"))
		return storm();
	printf("usage: stacktest chain|first-byte|threads|sleepers|hostile|storm\n");
	return 2;
}
