/* crash: one of the ways in which a program can go wrong; `crash list` names those that end in a signal, and
 * which. */
#include <check.h>
#include <numbers.h>
#include <signal.h>
#include <sys/mman.h>

static void null_pointer(void)
{
	*(volatile int *)0 = 1;
}

/*
 * What differs between the machines: instructions, an address in the middle of an instruction or none at all,
 * one of the kernel's, and the signals that go with them.
 */
#ifdef __aarch64__
#define ILLEGAL	       "udf #0"
#define BREAKPOINT     "brk #0x800"
#define PRIVILEGED     "msr daifset, #15\n mrs x0, ttbr1_el1"
#define SIG_PRIVILEGED SIGILL
#define BAD_JUMP       ((unsigned long)null_pointer + 2)
#define SIG_BAD_JUMP   SIGBUS
#define KERNEL_ADDRESS 0xffff000000080000UL
#else
#define ILLEGAL	       "ud2"
#define BREAKPOINT     "int3"
#define PRIVILEGED     "cli"
#define SIG_PRIVILEGED SIGSEGV
#define BAD_JUMP       0x0000800000000000UL /* the first that is not canonical */
#define SIG_BAD_JUMP   SIGSEGV
#define KERNEL_ADDRESS 0xffffffff80200000UL
#endif

static void illegal(void)
{
	__asm__ volatile(ILLEGAL);
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

static void bad_jump(void)
{
	((void (*)(void))BAD_JUMP)();
}

/* Data is not executable. */
static void run_data(void)
{
	static unsigned data[4];

	((void (*)(void))(unsigned long)data)();
}

static void kernel_jump(void)
{
	((void (*)(void))KERNEL_ADDRESS)();
}

/* What only the kernel may do. */
static void privileged(void)
{
	__asm__ volatile(PRIVILEGED ::: "memory");
}

static void breakpoint(void)
{
	__asm__ volatile(BREAKPOINT);
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
	static const struct {
		const char *name;
		void (*run)(void);
		int signal;
	} ways[] = {
		{"null", null_pointer, SIGSEGV},     {"illegal", illegal, SIGILL},
		{"text", write_text, SIGSEGV},	     {"recursion", recursion, SIGSEGV},
		{"jump", bad_jump, SIG_BAD_JUMP},    {"data", run_data, SIGSEGV},
		{"kernel", kernel_jump, SIGSEGV},    {"privileged", privileged, SIG_PRIVILEGED},
		{"breakpoint", breakpoint, SIGTRAP}, {"hog", hog, 0},
		{"fork-bomb", fork_bomb, 0},
	};

	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(ways); i++) {
		if (!strcmp(argv[1], "list") && ways[i].signal)
			printf("%s %d\n", ways[i].name, ways[i].signal);
		if (!strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			vt_die(3, "%s did no harm", argv[1]);
		}
	}
	if (argc < 2 || strcmp(argv[1], "list"))
		vt_die(2, "usage: crash WAY | list");
	return 0;
}
