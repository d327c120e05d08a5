/*
 * maptest: what address spaces of many areas cost. `maptest N` makes N mappings of one page each, then prints
 * what one of each of these takes, in nanoseconds (instructions under --icount): mapping one more page and
 * unmapping it; unmapping a page somewhere in the middle and mapping one, which must fill that hole; the
 * first touch of a page; changing a page's rights in the middle of three, which makes three areas of one, and
 * back. `maptest limit` counts how many there may be.
 */
#include <check.h>
#include <numbers.h>
#include <sys/mman.h>

#define PAGE   4096L
#define ROUNDS 500
#define ANON   (MAP_PRIVATE | MAP_ANONYMOUS)

/* Neighbours differ in their rights, so they stay areas of their own. */
static int rights_of(long i)
{
	return i & 1 ? PROT_READ | PROT_WRITE : PROT_READ;
}

static char *map_page(int prot)
{
	return mmap(NULL, PAGE, prot, ANON, -1, 0);
}

/* The same places in each run, spread over all of them. */
static long place(long round, long n)
{
	return (round * 7919 + 3) % n;
}

static char **make_maps(long n)
{
	char **at = vt_malloc(n * sizeof(*at));

	for (long i = 0; i < n; i++) {
		at[i] = map_page(rights_of(i));
		if (at[i] == MAP_FAILED)
			vt_die_errno(1, "mmap");
		if (i && at[i] != at[i - 1] - PAGE)
			vt_die(1, "mapping %ld is not below the one before", i);
	}
	return at;
}

static void map_one_more(char **at, long n, long round)
{
	char *p = map_page(rights_of(n));

	CHECK(p == at[n - 1] - PAGE);
	CHECK_EQ(munmap(p, PAGE), 0);
}

static void fill_a_hole(char **at, long n, long round)
{
	long i = place(round, n);

	CHECK_EQ(munmap(at[i], PAGE), 0);
	CHECK(map_page(rights_of(i)) == at[i]);
}

static void touch(char **at, long n, long round)
{
	*at[place(round, n) | 1] = 1;
}

/* In an area of three pages that lies above all others. */
static char *three;
static void protect(char **at, long n, long round)
{
	CHECK_EQ(check_syscall(SYS_mprotect, (long)three + PAGE, PAGE, PROT_READ, 0, 0, 0), 0);
	CHECK_EQ(check_syscall(SYS_mprotect, (long)three + PAGE, PAGE, PROT_READ | PROT_WRITE, 0, 0, 0), 0);
}

static long cost(void (*f)(char **, long, long), char **at, long n)
{
	long before = check_now();

	for (long round = 0; round < ROUNDS; round++)
		f(at, n, round);
	return (check_now() - before) / ROUNDS;
}

static int limit(void)
{
	long n = 0;

	while (map_page(rights_of(n)) != MAP_FAILED)
		n++;
	CHECK_EQ(errno, ENOMEM);
	printf("%ld\n", n);
	return check_failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	long n = argc == 2 ? atol(argv[1]) : 0;
	char **at;

	if (argc == 2 && !strcmp(argv[1], "limit"))
		return limit();
	if (n < 2)
		vt_die(2, "usage: maptest N | limit");
	three = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, ANON, -1, 0);
	CHECK(three != MAP_FAILED);
	at = make_maps(n);
	printf("%ld", n);
	printf(" %ld", cost(map_one_more, at, n));
	printf(" %ld", cost(fill_a_hole, at, n));
	printf(" %ld", cost(protect, at, n));
	printf(" %ld\n", cost(touch, at, n));
	return check_failures ? 1 : 0;
}
