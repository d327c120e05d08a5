/* crash: one of the ways in which a program can go wrong. */
#include <check.h>
#include <numbers.h>
#include <signal.h>
#include <sys/mman.h>

static void null_pointer(void)
{
	*(volatile int *)0 = 1;
}

static void illegal(void)
{
#ifdef __aarch64__
	__asm__ volatile("udf #0");
#else
	__asm__ volatile("ud2");
#endif
}

static void write_text(void)
{
	*(volatile int *)(unsigned long)write_text = 0;
}

static int deeper(int n)
{
	volatile char room[512];

	room[n & 511] = (char)n;
	return n < 1 << 30 ? deeper(n + 1) + room[n & 511] : 0;
}

static void recursion(void)
{
	deeper(0);
}

static void misaligned_jump(void)
{
	((void (*)(void))((unsigned long)misaligned_jump + 2))();
}

/* Data is not executable. */
static void run_data(void)
{
	static unsigned data[4];

	((void (*)(void))(unsigned long)data)();
}

static void kernel_jump(void)
{
	((void (*)(void))0xffff000000080000UL)();
}

/* What only the kernel may do. */
static void privileged(void)
{
#ifdef __aarch64__
	__asm__ volatile("msr daifset, #15");
	__asm__ volatile("mrs x0, ttbr1_el1" ::: "x0");
#else
	__asm__ volatile("cli");
#endif
}

static void breakpoint(void)
{
#ifdef __aarch64__
	__asm__ volatile("brk #0x800");
#else
	__asm__ volatile("int3");
#endif
}

/* Touch memory until there is no more: an error from mmap is a clean end. */
static void hog(void)
{
	for (long total = 0;; total += 1 << 20) {
		char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED) {
			printf("hog: %ld MiB, then %s\n", total >> 20, strerror(errno));
			exit(errno == ENOMEM ? 0 : 1);
		}
		for (long i = 0; i < 1 << 20; i += 4096)
			p[i] = 1;
	}
}

/* Fork until it fails, all children waiting; then let them go. */
static void fork_bomb(void)
{
	int go[2], error;
	long n = 0;
	char c;

	CHECK_CALL(pipe(go));
	fflush(stdout);
	for (;; n++) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			close(go[1]);
			_exit(read(go[0], &c, 1) == 0 ? 0 : 1);
		}
	}
	error = errno;
	close(go[1]);
	for (long i = 0; i < n; i++) {
		int status = 1;

		if (wait(&status) < 0 || status)
			check_failures++;
	}
	CHECK_EQ(wait(NULL), -1);
	printf("fork-bomb: %ld children, then %s\n", n, strerror(error));
	exit(check_failures || (error != EAGAIN && error != ENOMEM) || n < 100 ? 1 : 0);
}

int main(int argc, char **argv)
{
	static const struct check_case ways[] = {
		{ "null", null_pointer },	{ "illegal", illegal },	      { "text", write_text },
		{ "recursion", recursion },	{ "jump", misaligned_jump },  { "data", run_data },
		{ "kernel", kernel_jump },	{ "privileged", privileged }, { "breakpoint", breakpoint },
		{ "hog", hog },			{ "fork-bomb", fork_bomb },
	};

	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(ways); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			vt_die(3, "%s did no harm", argv[1]);
		}
	vt_die(2, "usage: crash WAY");
}
