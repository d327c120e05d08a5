/*
 * Random bytes: the block function gives RFC 8439's example, and what is given out and what becomes the next key are
 * the two halves of such blocks.
 */
/* sources: */
/* include: tests/unit/include-mm */
#include <host_test.h>

#define sigset_t k_sigset_t
#include "../../../kernel/random.c"

struct boot_info boot_info;
struct task_struct host_task;
s64 host_now = 12345;

/* ---- What it stands on. The numbers of /proc are not read here. */
unsigned long _raw_spin_lock_irqsave(spinlock_t *lock)
{
	return 0;
}
void _raw_spin_unlock_irqrestore(spinlock_t *lock, unsigned long flags)
{
}
void seq_printf(struct seq_file *m, const char *fmt, ...)
{
}
void seq_putc(struct seq_file *m, char c)
{
}

/* RFC 8439, 2.3.2: key, counter and nonce, and the block that follows from them. */
static const u32 key[8] = {0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c,
			   0x13121110, 0x17161514, 0x1b1a1918, 0x1f1e1d1c};
static const u32 rest[4] = {1, 0x09000000, 0x4a000000, 0};
static const u32 expected[16] = {0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3, 0xc7f4d1c7, 0x0368c033,
				 0x9aaa2204, 0x4e6cd4c3, 0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9,
				 0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2};

static void fresh(void)
{
	memcpy(&state[4], key, sizeof(key));
	memcpy(&state[12], rest, sizeof(rest));
}

static void test_block(void **unused)
{
	u32 block[16];

	fresh();
	chacha_block(block);
	assert_memory_equal(block, expected, sizeof(block));
	assert_int_equal(state[12], 2);
}

/* The first half of a block is given out; the second half is the key of the next. A seed is added to the key. */
static void test_halves(void **unused)
{
	u32 block[16], seed[8] = {0};
	u8 got[40];

	fresh();
	state[13] ^= (u32)arch_read_counter();
	state[14] ^= (u32)((u64)arch_read_counter() >> 32) ^ (u32)(unsigned long)current;
	chacha_block(block);
	fresh();
	get_random_bytes(got, sizeof(got));
	assert_memory_equal(got, block, 32);
	fresh();
	seed[0] = 1;
	state[4] ^= 1;
	chacha_block(block);
	fresh();
	add_random_seed(seed, sizeof(seed));
	assert_memory_equal(&state[4], &block[8], 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_block),
		cmocka_unit_test(test_halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
