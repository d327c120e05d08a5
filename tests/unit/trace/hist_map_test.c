/*
 * The map of a histogram under real concurrency: threads that stand for CPUs insert keys of one small set at the same
 * time, and each is interrupted at any instruction by a signal that inserts on the next level of nesting. Properties:
 * hits and drops together are all insertions, each key has one element and each element one key, the counts of the
 * elements are the hits, and a map that is full has exactly its size. ThreadSanitizer adds: no data race.
 *
 * The same without threads: at each step of an insertion that others can see, whole insertions of the next level and of
 * other CPUs come in between, at random.
 */
/* sources: */
/* sanitizers: thread */
/* include: tests/unit/include-mm */
#include <host_test.h>

#include <pthread.h>
#include <signal.h>

#include <lib/types.h>
#include <mm/gfp.h>

static void others_come(void);
#include <lib/atomic.h>
#include <lib/string.h>
#define memcpy(to, from, n) (others_come(), __builtin_memcpy(to, from, n), others_come())
#undef smp_load_acquire
#define smp_load_acquire(p) (others_come(), __atomic_load_n(p, __ATOMIC_ACQUIRE))
#include "../../../trace/hist/map.c"
#undef memcpy

void *kzalloc(size_t size, gfp_t gfp)
{
	return calloc(1, size);
}

void *kvzalloc(size_t size, gfp_t gfp)
{
	/* Each CPU's part begins a line of the cache. */
	void *p = aligned_alloc(64, ALIGN(size, 64));

	return p ? memset(p, 0, size) : NULL;
}

void kfree(const void *p)
{
	free((void *)p);
}

void kvfree(const void *p)
{
	free((void *)p);
}

#define CPUS	4
#define INSERTS 20000

static struct hist_map *map;
static unsigned nr_keys, words = 2; /* words of a key */
static __thread unsigned this_cpu, depth, interrupts;
static __thread u64 seed;
static unsigned long total; /* insertions, of all threads */
static unsigned ended;	    /* threads */

/* The key of a number: two words that differ from those of other numbers in either. */
static void make_key(u64 *key, u64 n)
{
	key[0] = n;
	key[1] = n * n;
}

/* A key of one word is looked for by the short way first, as hits do. */
static void insert(u64 n)
{
	u64 key[2], *elt = words == 1 ? hist_map_hit_number(map, n, this_cpu) : NULL;
	unsigned here = depth++;
	bool fresh;

	make_key(key, n);
	if (!elt)
		elt = hist_map_insert(map, key, this_cpu, here, &fresh);
	if (elt)
		__atomic_fetch_add(&elt[words], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&total, 1, __ATOMIC_RELAXED);
	depth--;
}

static void interrupted(int sig)
{
	if (depth < HIST_NEST_MAX)
		insert(interrupts++ % nr_keys);
}

static void *cpu(void *number)
{
	this_cpu = (unsigned)(unsigned long)number;
	seed = this_cpu + 1;
	for (unsigned i = 0; i < INSERTS; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		insert((seed >> 33) % nr_keys);
	}
	__atomic_fetch_add(&ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Each slot's element: its key is one of the set, found by hist_map_find() there, and seen once. Counts add up. */
static void check_map(unsigned size)
{
	unsigned long counted = 0;
	unsigned entries = 0;

	for (unsigned slot = 0; slot < 2u << map->bits; slot++) {
		u64 *elt = hist_map_slot(map, slot), key[2];

		if (!elt)
			continue;
		entries++;
		make_key(key, elt[0]);
		assert_true(elt[0] < nr_keys);
		if (words == 2)
			assert_int_equal(elt[1], key[1]);
		assert_ptr_equal(hist_map_find(map, key), elt);
		counted += elt[words];
	}
	assert_int_equal(entries, size);
	assert_int_equal(map->entries, size);
	assert_int_equal(counted, hist_map_hits(map));
	assert_int_equal(hist_map_hits(map) + hist_map_drops(map), total);
}

static void storm(unsigned keys)
{
	pthread_t threads[CPUS];

	nr_keys = keys;
	total = ended = 0;
	for (unsigned long i = 0; i < CPUS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, cpu, (void *)i), 0);
	while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < CPUS)
		for (unsigned i = 0; i < CPUS; i++)
			pthread_kill(threads[i], SIGUSR1);
	for (unsigned i = 0; i < CPUS; i++)
		pthread_join(threads[i], NULL);
}

/* ---- Without threads */

static bool interrupting;
static unsigned depth_of[CPUS]; /* levels in use */

/* Called at each step. One level for each insertion that is under way, on whichever CPU. */
static void others_come(void)
{
	unsigned cpu, here = this_cpu, levels = depth;

	if (!interrupting || host_random() % 4)
		return;
	cpu = host_random() % CPUS;
	depth_of[here] = levels;
	if (depth_of[cpu] >= HIST_NEST_MAX)
		return;
	this_cpu = cpu;
	depth = depth_of[cpu];
	insert(host_random() % nr_keys);
	this_cpu = here;
	depth = levels;
}

/* Many small maps, since a new key is what is interesting. */
static void storms_in_between(void)
{
	for (unsigned round = 0; round < 400; round++) {
		map = hist_map_create(HIST_MAP_BITS_MIN, words * 8, 8, CPUS);
		nr_keys = round & 1 ? 100 : 300;
		total = 0;
		for (unsigned i = 0; i < 1500; i++) {
			interrupting = true;
			insert(host_random() % nr_keys);
			interrupting = false;
		}
		if (round & 1)
			assert_int_equal(hist_map_drops(map), 0);
		check_map(nr_keys < 128 ? nr_keys : 128);
		hist_map_free(map);
	}
}

static void test_others_in_between(void **state)
{
	storms_in_between();
	words = 1;
	storms_in_between();
	words = 2;
}

/* Fewer keys than there is room for: nothing is dropped. Twice, with a clear in between. */
static void test_keys_that_fit(void **state)
{
	map = hist_map_create(HIST_MAP_BITS_MIN, words * 8, 8, CPUS);
	for (unsigned round = 0; round < 2; round++) {
		storm(100);
		assert_int_equal(hist_map_drops(map), 0);
		check_map(100);
		hist_map_clear(map);
		assert_int_equal(hist_map_hits(map), 0);
	}
	hist_map_free(map);
}

/* Twice as many keys as there is room for. */
static void test_a_full_map(void **state)
{
	map = hist_map_create(HIST_MAP_BITS_MIN, words * 8, 8, CPUS);
	storm(256);
	assert_true(hist_map_drops(map) > 0);
	check_map(128);
	hist_map_free(map);
}

/* One key after the other: the first insertion of each is fresh, no other is, and what is not there is not found. */
static void test_fresh(void **state)
{
	u64 key[2];
	bool fresh;

	map = hist_map_create(HIST_MAP_BITS_MIN, words * 8, 8, 1);
	for (unsigned n = 0; n < 128; n++) {
		make_key(key, n);
		assert_null(hist_map_find(map, key));
		assert_non_null(hist_map_insert(map, key, 0, 0, &fresh));
		assert_true(fresh);
		assert_non_null(hist_map_insert(map, key, 0, 1, &fresh));
		assert_false(fresh);
	}
	make_key(key, 128);
	assert_null(hist_map_insert(map, key, 0, 0, &fresh));
	assert_int_equal(hist_map_drops(map), 1);
	assert_int_equal(hist_map_hits(map), 256);
	hist_map_free(map);
}

/*
 * The short way counts a number that is there, and nothing of one that is not: neither in an empty slot, nor where
 * another number lies.
 */
static void test_numbers(void **state)
{
	u64 hits = 0, *elt;
	bool fresh;

	words = 1;
	map = hist_map_create(HIST_MAP_BITS_MIN, 8, 8, 1);
	for (u64 n = 0; n < 128; n += 2)
		assert_non_null(hist_map_insert(map, &n, 0, 0, &fresh));
	for (u64 n = 0; n < 128; n++) {
		elt = hist_map_hit_number(map, n, 0);
		if (elt) {
			assert_int_equal(elt[0], n);
			assert_ptr_equal(elt, hist_map_find(map, &n));
			hits++;
		}
		assert_true(n % 2 ? !elt : true);
	}
	assert_true(hits > 64 * 3 / 4); /* a few lie behind the slot that their hash says */
	assert_int_equal(hist_map_hits(map), 64 + hits);
	assert_int_equal(hist_map_drops(map), 0);
	hist_map_free(map);
	map = hist_map_create(HIST_MAP_BITS_MIN, 8, 8, CPUS);
	storm(100);
	assert_int_equal(hist_map_drops(map), 0);
	check_map(100);
	hist_map_free(map);
	words = 2;
}

int main(void)
{
	struct sigaction action = {.sa_handler = interrupted};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_others_in_between), cmocka_unit_test(test_keys_that_fit),
		cmocka_unit_test(test_a_full_map),	  cmocka_unit_test(test_fresh),
		cmocka_unit_test(test_numbers),
	};

	sigaction(SIGUSR1, &action, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
