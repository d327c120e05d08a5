/*
 * The assembly of memory.S and uaccess_asm.S, run as it is: against the host's functions, and on pages that end too
 * early. A fault of the assembly is a signal of the host, whose handler goes by the exception table as the kernel's
 * does.
 */
/* sources: arch/x86_64/mm/memory.S arch/x86_64/mm/uaccess_asm.S */
/* include: tests/unit/include-x86_64 -Iarch/x86_64/include -Itests/unit/include-mm */
#define _GNU_SOURCE
#include <host_test.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE	  4096L
#define EFAULT_IS (-14L)

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
struct user_value __cmpxchg_user_4(uint32_t from, uint32_t to, void *p);

struct extable_entry {
	int32_t insn, fixup;
};
extern const struct extable_entry __start___ex_table[], __stop___ex_table[];

static unsigned long insn_address(const struct extable_entry *e)
{
	return (unsigned long)&e->insn + e->insn;
}

/* As the kernel's fault handler: on to the fix-up. Anything else is a bug of the test or of what it tests. */
static void on_fault(int number, siginfo_t *info, void *context)
{
	greg_t *ip = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	for (const struct extable_entry *e = __start___ex_table; e < __stop___ex_table; e++)
		if (insn_address(e) == (unsigned long)*ip) {
			*ip = (greg_t)((unsigned long)&e->fixup + e->fixup);
			return;
		}
	_exit(99);
}

#define SIZE 1024
static unsigned char ours[SIZE], theirs[SIZE];

static void fill(void)
{
	for (unsigned i = 0; i < SIZE; i++)
		ours[i] = theirs[i] = (unsigned char)host_random();
}

static void test_copy_and_set(void **state)
{
	for (unsigned n = 0; n < 300; n++)
		for (unsigned at = 0; at < 81; at++) {
			unsigned from = at % 9, to = 512 + at / 9;

			fill();
			memcpy(theirs + to, theirs + from, n);
			assert_ptr_equal(k_memcpy(ours + to, ours + from, n), ours + to);
			assert_memory_equal(ours, theirs, SIZE);
			memset(theirs + from, (int)(n * 7), n);
			assert_ptr_equal(k_memset(ours + from, (int)(n * 7), n), ours + from);
			assert_memory_equal(ours, theirs, SIZE);
		}
}

static void test_move_over_itself(void **state)
{
	for (unsigned n = 0; n < 200; n++)
		for (int distance = -70; distance <= 70; distance++) {
			fill();
			memmove(theirs + 400 + distance, theirs + 400, n);
			assert_ptr_equal(k_memmove(ours + 400 + distance, ours + 400, n), ours + 400 + distance);
			assert_memory_equal(ours, theirs, SIZE);
		}
}

/* Two pages, the second of which nobody may touch: where it begins. From here on faults are ours: cmocka has
 * its own handler while a test runs. */
static unsigned char *page_end(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
	unsigned char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(mprotect(page + PAGE, PAGE, PROT_NONE), 0);
	return page + PAGE;
}

static void test_whole_pages(void **state)
{
	unsigned char *from = page_end() - PAGE, *to = page_end() - PAGE;

	for (long i = 0; i < PAGE; i++)
		from[i] = (unsigned char)host_random();
	copy_page(to, from);
	assert_memory_equal(to, from, PAGE);
	clear_page(to);
	for (long i = 0; i < PAGE; i++)
		assert_int_equal(to[i], 0);
}

/* n bytes where only `room` are there: exactly these are done, and what is not done is said exactly. */
static void check_user_copies(unsigned char *end, unsigned n, unsigned room, unsigned at)
{
	unsigned long left = n > room ? n - room : 0;

	fill();
	memcpy(end - room, theirs + 300, room);
	assert_int_equal(__copy_user(ours + at, end - room, n), left);
	assert_memory_equal(ours + at, theirs + 300, n - left);
	assert_memory_equal(ours + at + n - left, theirs + at + n - left, SIZE - at - n);

	memset(end - room, 0xee, room);
	assert_int_equal(__copy_user(end - room, ours + at, n), left);
	assert_memory_equal(end - room, ours + at, n - left);

	memset(end - room, 0xee, room);
	assert_int_equal(__clear_user(end - room, n), left);
	for (unsigned i = 0; i < room; i++)
		assert_int_equal(*(end - room + i), i < n ? 0 : 0xee);
}

static void test_user_copies(void **state)
{
	unsigned char *end = page_end();

	for (unsigned n = 0; n < 130; n++)
		for (unsigned room = 0; room < 140; room++)
			check_user_copies(end, n, room, (n + room) % 8);
}

/*
 * A string of this length, of which `room` bytes can be read, copied to n bytes: the result must be the length, n or
 * -EFAULT, and nothing behind n bytes may be written.
 */
static void check_string(char *end, long length, long room, long n)
{
	long wanted = n <= room ? n : EFAULT_IS, got;

	memset(end - room, 'x', (size_t)room);
	if (length < room)
		*(end - room + length) = '\0';
	if (length < room && length < n)
		wanted = length;
	memset(ours, 0x55, SIZE);
	got = __strncpy_from_user((char *)ours, end - room, n);
	assert_int_equal(got, wanted);
	if (got >= 0) {
		assert_memory_equal(ours, end - room, got);
		assert_true(got == n || !ours[got]);
	}
	for (long i = n; i < 128; i++)
		assert_int_equal(ours[i], 0x55);
}

static void test_strings(void **state)
{
	char *end = (char *)page_end();

	for (long length = 0; length < 40; length++)
		for (long room = 0; room < 50; room++)
			for (long n = 1; n < 50; n++)
				check_string(end, length, room, n);
	/* Bytes that are nearly zero are none. */
	memcpy(end - 8, "\x80\x01\xff\x80\x01\x01\x80", 8);
	assert_int_equal(__strncpy_from_user((char *)ours, end - 8, 64), 7);
}

/*
 * Each width of get_user() and put_user(): the value, the fault across the end of a page, and addresses that belong to
 * the kernel or to nobody, which must never be accessed.
 */
static void test_single_values(void **state)
{
	/* Nothing is mapped at the last page below the hole, and beyond it an access is no page fault but #GP. */
	static const unsigned long bad[] = {0x00007ffffffff000, 0x00007ffffffffffc, 0x0000800000000000,
					    0xffff888000000000, ~0UL};
	unsigned char *end = page_end();
	uint64_t v = 0x1122334455667788;

	memcpy(end - 8, &v, 8);
	assert_int_equal(__get_user_1(end - 8).value, 0x88);
	assert_int_equal(__get_user_2(end - 8).value, 0x7788);
	assert_int_equal(__get_user_4(end - 8).value, 0x55667788);
	assert_int_equal(__get_user_8(end - 8).value, v);
	assert_int_equal(__get_user_8(end - 8).error, 0);
	assert_int_equal(__get_user_8(end - 7).error, EFAULT_IS);
	assert_int_equal(__get_user_8(end - 7).value, 0);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(__get_user_1((void *)bad[i]).error, EFAULT_IS);
		assert_int_equal(__get_user_8((void *)(bad[i] - (i == 0))).error, EFAULT_IS);
		assert_int_equal(__put_user_8(1, (void *)bad[i]), EFAULT_IS);
	}
	assert_int_equal(__put_user_1(0xaa99, end - 1), 0);
	assert_int_equal(__put_user_2(0xbbaa, end - 3), 0);
	assert_int_equal(__put_user_4(0xffeeddcc, end - 7), 0);
	assert_memory_equal(end - 8, "\x88\xcc\xdd\xee\xff\xaa\xbb\x99", 8);
	assert_int_equal(__put_user_8(v, end - 7), EFAULT_IS);
	assert_int_equal(__put_user_8(v, end - 8), 0);
	assert_memory_equal(end - 8, &v, 8);
}

/* Exchanged or not, it tells what was there; nothing is exchanged on a page that is not there or not the user's. */
static void test_exchange_of_a_word(void **state)
{
	unsigned char *end = page_end();
	uint32_t word = 0x80000007;
	struct user_value was;

	memcpy(end - 4, &word, 4);
	was = __cmpxchg_user_4(7, 1, end - 4);
	assert_int_equal(was.value, 0x80000007);
	assert_int_equal(was.error, 0);
	assert_memory_equal(end - 4, &word, 4);
	was = __cmpxchg_user_4(0x80000007, 0x12345678, end - 4);
	assert_int_equal(was.value, 0x80000007);
	assert_int_equal(was.error, 0);
	assert_memory_equal(end - 4, "\x78\x56\x34\x12", 4);
	was = __cmpxchg_user_4(0x12345678, 1, end);
	assert_int_equal(was.value, 0);
	assert_int_equal(was.error, EFAULT_IS);
	assert_int_equal(__cmpxchg_user_4(0, 1, (void *)0x00007ffffffff000).error, EFAULT_IS);
	assert_int_equal(__cmpxchg_user_4(0, 1, (void *)0xffff888000000000).error, EFAULT_IS);
}

static void test_table_ascends(void **state)
{
	assert_true(__stop___ex_table - __start___ex_table > 20);
	for (const struct extable_entry *e = __start___ex_table; e + 1 < __stop___ex_table; e++)
		assert_true(insn_address(e) < insn_address(e + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy_and_set),  cmocka_unit_test(test_move_over_itself),
		cmocka_unit_test(test_whole_pages),   cmocka_unit_test(test_user_copies),
		cmocka_unit_test(test_strings),	      cmocka_unit_test(test_single_values),
		cmocka_unit_test(test_table_ascends), cmocka_unit_test(test_exchange_of_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
