/*
 * copytest: the kernel's own assembly (memory.S, uaccess_asm.S), run as a program: what is copied, compared
 * and cleared, and how much is said to be left when a page ends early, at each byte of each loop and in both
 * directions.
 */
#include <check.h>
#include <numbers.h>
#include <signal.h>
#include <sys/mman.h>

#define PAGE 4096L
#define SIZE 1024
#define LEN  150 /* reaches every step: blocks of 64, their halves, and each tail */

void *k_memcpy(void *dst, const void *src, size_t n);
void *k_memmove(void *dst, const void *src, size_t n);
void *k_memset(void *dst, int c, size_t n);
void clear_page(void *page);
void copy_page(void *to, const void *from);
unsigned long __copy_user(void *to, const void *from, unsigned long n);
unsigned long __clear_user(void *to, unsigned long n);
long __strncpy_from_user(char *dst, const char *src, long n);
struct user_value {
	uint64_t value;
	long error;
};
struct user_value __get_user_1(const void *p);
struct user_value __get_user_2(const void *p);
struct user_value __get_user_4(const void *p);
struct user_value __get_user_8(const void *p);
long __put_user_1(uint64_t v, void *p);
long __put_user_2(uint64_t v, void *p);
long __put_user_4(uint64_t v, void *p);
long __put_user_8(uint64_t v, void *p);

struct extable_entry {
	int32_t insn, fixup;
};
extern const struct extable_entry __start___ex_table[], __stop___ex_table[];

/* Where a signal frame's context has the program counter (struct ucontext of each machine). */
#ifdef __aarch64__
#define PC_AT (176 + 8 + 32 * 8)
#else
#define PC_AT (40 + 16 * 8)
#endif

/* As the kernel's fault handler: on to the fix-up. Any other fault is a bug of the test or of what it tests.
 */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	unsigned long *pc = (unsigned long *)((char *)context + PC_AT);

	for (const struct extable_entry *e = __start___ex_table; e < __stop___ex_table; e++)
		if ((unsigned long)&e->insn + e->insn == *pc) {
			*pc = (unsigned long)&e->fixup + e->fixup;
			return;
		}
	_exit(99);
}

static unsigned char ours[SIZE], theirs[SIZE], *end; /* end: the second of two pages, which is not there */

static unsigned next_random(void)
{
	static unsigned state = 1;

	state = state * 1103515245 + 12345;
	return state >> 16;
}

/* Other bytes each time, cut out of a pool: to make a thousand new ones takes longer than what is tested. */
static void fill(void)
{
	static unsigned char pool[2 * SIZE];
	unsigned at = next_random() % SIZE;

	while (!pool[0])
		for (unsigned i = 0; i < sizeof(pool); i++)
			pool[i] = (unsigned char)next_random();
	memcpy(ours, pool + at, SIZE);
	memcpy(theirs, pool + at, SIZE);
}

/* Bytes, one at a time, so that it is plainly right; volatile, or the compiler makes a memcpy of it. */
static void copy(volatile unsigned char *to, const volatile unsigned char *from, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = from[i];
}

/* Say what was tried, once: a loop that is wrong is wrong a thousand times. */
static bool good(bool ok, const char *what, long a, long b, long c)
{
	if (!ok && !check_failures++)
		printf("  %s: %ld %ld %ld\n", what, a, b, c);
	return ok;
}

static void prepare(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	end = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (end == MAP_FAILED || munmap(end + PAGE, PAGE))
		vt_die_errno(2, "mmap");
	end += PAGE;
	CHECK_CALL(sigaction(SIGSEGV, &action, NULL));
}

static void copy_and_set(void)
{
	for (unsigned n = 0; n < LEN; n++)
		for (unsigned at = 0; at < 81; at += n % 3 + 1) {
			unsigned from = at % 9, to = 512 + at / 9;

			fill();
			copy(theirs + to, theirs + from, n);
			k_memcpy(ours + to, ours + from, n);
			good(!memcmp(ours, theirs, SIZE), "memcpy of n, from, to", n, from, to);
			for (unsigned i = 0; i < n; i++)
				((volatile unsigned char *)theirs)[from + i] = (unsigned char)(n * 7);
			k_memset(ours + from, (int)(n * 7) | 0x100, n);
			good(!memcmp(ours, theirs, SIZE), "memset of n, at", n, from, 0);
		}
}

static void move_over_itself(void)
{
	for (unsigned n = 0; n < LEN; n++)
		for (int distance = -70; distance <= 70; distance += n % 2 + 1) {
			fill();
			copy(theirs + 700, ours + 400, n);
			copy(theirs + 400 + distance, theirs + 700, n);
			copy(theirs + 700, ours + 700, n);
			k_memmove(ours + 400 + distance, ours + 400, n);
			good(!memcmp(ours, theirs, SIZE), "memmove of n, by", n, distance, 0);
		}
}

static void whole_pages(void)
{
	static unsigned char from[PAGE] __attribute__((aligned(4096))), guard[3 * PAGE] __attribute__((aligned(4096)));
	unsigned char *to = guard + PAGE;

	for (long i = 0; i < PAGE; i++)
		from[i] = (unsigned char)next_random();
	memset(guard, 0x77, sizeof(guard));
	copy_page(to, from);
	CHECK_EQ(memcmp(to, from, (size_t)PAGE), 0);
	clear_page(to);
	for (long i = 0; i < 3 * PAGE; i++)
		good(guard[i] == (i >= PAGE && i < 2 * PAGE ? 0 : 0x77), "clear_page, byte", i - PAGE, 0, 0);
}

/* n bytes where only `room` are there: these are done, nothing else, and the rest is said exactly. */
static void user_copies(void)
{
	/* All small ones, and of the others those that take every step and those beside. A fault costs a
	 * signal. */
	for (unsigned n = 0; n < LEN; n += n < 34 || n % 32 >= 30 || n % 32 == 0 ? 1 : n % 32 < 16 ? 15 : 7)
		for (unsigned room = 0; room <= n + 1; room++) {
			unsigned left = n > room ? n - room : 0, at = (n + room) % 8, got;

			fill();
			copy(end - room, theirs + 300, room);
			copy(theirs + at, theirs + 300, n - left);
			got = (unsigned)__copy_user(ours + at, end - room, n);
			good(got == left, "copy from n bytes of which there are room: left", n, room, got);
			/* All bytes that could be read have arrived, and nothing behind them is touched. */
			good(!memcmp(ours, theirs, SIZE), "copy from n bytes of which there are room: bytes at", n,
			     room, at);

			fill();
			for (unsigned i = 1; i <= room + 16; i++)
				*(end - i) = 0xee;
			got = (unsigned)__copy_user(end - room, ours + at, n);
			good(got == left, "copy to n bytes of which there are room: left", n, room, got);
			good(!memcmp(end - room, theirs + at, n - left), "copy to n, room: bytes from", n, room, at);
			good(n - left == room || *(end - room + n) == 0xee, "copy to n, room: too much", n, room, at);
			good(*(end - room - 1) == 0xee, "copy to n, room: before", n, room, at);

			for (unsigned i = 1; i <= room + 16; i++)
				*(end - i) = 0xee;
			got = (unsigned)__clear_user(end - room, n);
			good(got == left, "clear n bytes of which there are room: left", n, room, got);
			for (unsigned i = 0; i < room; i++)
				good(*(end - room + i) == (i < n ? 0 : 0xee), "clear n, room: byte", n, room, i);
			good(*(end - room - 1) == 0xee, "clear n, room: before", n, room, 0);
		}
}

static void string(long length, long room, long n)
{
	unsigned char *at = end - room;
	long wanted = n <= room ? n : -EFAULT, got;

	memset(at, 'x', (size_t)room);
	if (length < room)
		at[length] = '\0';
	if (length < room && length < n)
		wanted = length;
	memset(ours, 0x55, SIZE);
	got = __strncpy_from_user((char *)ours, (char *)at, n);
	good(got == wanted, "string of length, in room, at most n", length, room, n);
	good(got < 0 || !memcmp(ours, at, (size_t)got), "string's bytes: length, room, n", length, room, n);
	good(got < 0 || got == n || !ours[got], "string's end: length, room, n", length, room, n);
	for (long i = n; i < 64; i++)
		good(ours[i] == 0x55, "string: byte beyond n, length, n", i, length, n);
}

static void strings(void)
{
	for (long length = 0; length < 20; length++)
		for (long room = 0; room < 28; room++)
			for (long n = 1; n < 28; n += 1 + (length + room) % 3)
				string(length, room, n);
}

static void single_values(void)
{
	static const unsigned long bad[] = {
		0x0000800000000000, 0xffff888000000000, 0xffffff8000000000, 1UL << 63, -8UL, ~0UL,
#ifdef __aarch64__
		0x8000000000,	    0x7ffffffffd,
#else
		0x00007ffffffff000, 0x00007fffffffeffd,
#endif
	};
	uint64_t v = 0x1122334455667788;

	memcpy(end - 8, &v, 8);
	CHECK_EQ(__get_user_1(end - 8).value, 0x88);
	CHECK_EQ(__get_user_2(end - 8).value, 0x7788);
	CHECK_EQ(__get_user_4(end - 8).value, 0x55667788);
	CHECK_EQ(__get_user_8(end - 8).value, v);
	CHECK_EQ(__get_user_8(end - 8).error, 0);
	CHECK_EQ(__get_user_1(end - 1).error, 0);
	CHECK_EQ(__get_user_2(end - 1).error, -EFAULT);
	CHECK_EQ(__get_user_4(end - 3).error, -EFAULT);
	CHECK_EQ(__get_user_8(end - 7).error, -EFAULT);
	CHECK_EQ(__get_user_8(end - 7).value, 0);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		void *p = (void *)bad[i];
		bool edge = (bad[i] & 7) == 5; /* within user space, but for its last bytes */

		good(edge || __get_user_1(p).error == -EFAULT, "get_user_1 at bad address", i, 0, 0);
		good(edge || __get_user_2(p).error == -EFAULT, "get_user_2 at bad address", i, 0, 0);
		good(__get_user_4(p).error == -EFAULT, "get_user_4 at bad address", i, 0, 0);
		good(__get_user_8(p).error == -EFAULT && !__get_user_8(p).value, "get_user_8 at bad address", i, 0, 0);
		good(edge || __put_user_1(1, p) == -EFAULT, "put_user_1 at bad address", i, 0, 0);
		good(edge || __put_user_2(1, p) == -EFAULT, "put_user_2 at bad address", i, 0, 0);
		good(__put_user_4(1, p) == -EFAULT, "put_user_4 at bad address", i, 0, 0);
		good(__put_user_8(1, p) == -EFAULT, "put_user_8 at bad address", i, 0, 0);
	}
	CHECK_EQ(__put_user_1(0xaa99, end - 1), 0);
	CHECK_EQ(__put_user_2(0xbbaa, end - 3), 0);
	CHECK_EQ(__put_user_4(0xffeeddcc, end - 7), 0);
	CHECK_EQ(memcmp(end - 8, "\x88\xcc\xdd\xee\xff\xaa\xbb\x99", 8), 0);
	CHECK_EQ(__put_user_8(v, end - 7), -EFAULT);
	CHECK_EQ(__put_user_4(0, end - 3), -EFAULT);
	CHECK_EQ(__put_user_2(0, end - 1), -EFAULT);
	CHECK_EQ(__put_user_8(v, end - 8), 0);
	CHECK_EQ(memcmp(end - 8, &v, 8), 0);
}

static void table_ascends(void)
{
	CHECK_RANGE(__stop___ex_table - __start___ex_table, 20, 1000);
	for (const struct extable_entry *e = __start___ex_table; e + 1 < __stop___ex_table; e++)
		CHECK((unsigned long)&e->insn + e->insn < (unsigned long)&e[1].insn + e[1].insn);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"copy-and-set", copy_and_set},
		{"move-over-itself", move_over_itself},
		{"whole-pages", whole_pages},
		{"user-copies", user_copies},
		{"strings", strings},
		{"single-values", single_values},
		{"table-ascends", table_ascends},
	};

	check_seconds = 30;
	prepare();
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
