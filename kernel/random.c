/*
 * Random bytes: ChaCha20 (RFC 8439) as a generator. The state is a key, a block counter and a nonce; the machine's
 * cycle counter is stirred into the nonce at each call. After each block the key is replaced by half of it ("fast key
 * erasure"), so code that reads the state later cannot compute what was given out before. Seeds come from the boot
 * loader and from devices. There is no waiting for entropy. Any context but nmi; random_lock is taken with interrupts
 * off.
 */
#include <asm/clock.h>
#include <boot/boot_info.h>
#include <fs/libfs.h>
#include <kernel/export.h>
#include <kernel/init.h>
#include <kernel/random.h>
#include <lib/string.h>
#include <sched/current.h>
#include <sched/spinlock.h>

#define ROUNDS	      20
#define BYTES_AT_ONCE 256 /* for which interrupts are off */

static DEFINE_SPINLOCK(random_lock); /* irqsave */
/* [random_lock] Constants, key, counter, nonce. */
static u32 state[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

/* To the left by n bits, 0 < n < 32. */
static __always_inline u32 rotate(u32 v, unsigned n)
{
	return v << n | v >> (32 - n);
}

/* RFC 8439, 2.1. */
static __always_inline void quarter_round(u32 *x, int a, int b, int c, int d)
{
	x[a] += x[b];
	x[d] = rotate(x[d] ^ x[a], 16);
	x[c] += x[d];
	x[b] = rotate(x[b] ^ x[c], 12);
	x[a] += x[b];
	x[d] = rotate(x[d] ^ x[a], 8);
	x[c] += x[d];
	x[b] = rotate(x[b] ^ x[c], 7);
}

/* One block of output (RFC 8439, 2.3); the block counter goes on. [random_lock] */
static void chacha_block(u32 *out)
{
	memcpy(out, state, sizeof(state));
	for (int i = 0; i < ROUNDS; i += 2) {
		quarter_round(out, 0, 4, 8, 12);
		quarter_round(out, 1, 5, 9, 13);
		quarter_round(out, 2, 6, 10, 14);
		quarter_round(out, 3, 7, 11, 15);
		quarter_round(out, 0, 5, 10, 15);
		quarter_round(out, 1, 6, 11, 12);
		quarter_round(out, 2, 7, 8, 13);
		quarter_round(out, 3, 4, 9, 14);
	}
	for (int i = 0; i < 16; i++)
		out[i] += state[i];
	state[12]++;
}

/*
 * Some bytes, with interrupts off for all of them. The caller's counter and task make two calls differ, even after two
 * boots with one seed.
 */
static void get_some_bytes(void *buf, size_t n)
{
	unsigned long flags;
	u32 block[16];
	u64 now = arch_read_counter();

	spin_lock_irqsave(&random_lock, flags);
	state[13] ^= (u32)now;
	state[14] ^= (u32)(now >> 32) ^ (u32)(unsigned long)current;
	while (n) {
		/* Half of each block is given out, and the other half becomes the next key. */
		size_t len = min(n, sizeof(block) / 2);

		chacha_block(block);
		memcpy(&state[4], &block[8], sizeof(block) / 2);
		memcpy(buf, block, len);
		buf = (char *)buf + len;
		n -= len;
	}
	spin_unlock_irqrestore(&random_lock, flags);
}

/* A long request is made in parts, and interrupts may come between two of them: a block takes about a microsecond. */
void get_random_bytes(void *buf, size_t n)
{
	for (size_t done = 0; done < n; done += BYTES_AT_ONCE)
		get_some_bytes((char *)buf + done, min(n - done, (size_t)BYTES_AT_ONCE));
}
EXPORT_SYMBOL(get_random_bytes);

/*
 * The seed is added to the key by exclusive or, and one block is computed over it. Without that block a caller who
 * knows the state could choose bytes of the next output.
 */
void add_random_seed(const void *seed, size_t n)
{
	unsigned long flags;
	u32 block[16];

	spin_lock_irqsave(&random_lock, flags);
	for (size_t i = 0; i < n; i++)
		((u8 *)&state[4])[i % 32] ^= ((const u8 *)seed)[i];
	chacha_block(block);
	memcpy(&state[4], &block[8], sizeof(block) / 2);
	spin_unlock_irqrestore(&random_lock, flags);
}

/* 16 bytes as RFC 9562 writes them: groups of 4, 2, 2, 2 and 6 bytes. */
static int random_show_uuid(struct seq_file *m, const u8 *b)
{
	for (unsigned i = 0; i < 16; i++)
		seq_printf(m, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
	seq_putc(m, '\n');
	return 0;
}

/* The bits that RFC 9562 fixes: version 4, variant 10. */
static void make_uuid(u8 *b)
{
	get_random_bytes(b, 16);
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
}

/* A new one each time the file is read. */
static int uuid_show(struct seq_file *m, void *v)
{
	u8 id[16];

	make_uuid(id);
	return random_show_uuid(m, id);
}

static u8 boot_id[16]; /* [immutable after boot] */

static int boot_id_show(struct seq_file *m, void *v)
{
	return random_show_uuid(m, boot_id);
}

static int pool_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", RANDOM_POOL_BITS);
	return 0;
}

static const struct text_file poolsize_entry = {.path = "sys/kernel/random/poolsize", .mode = 0444, .show = pool_show};
static const struct text_file entropy_avail_entry = {
	.path = "sys/kernel/random/entropy_avail", .mode = 0444, .show = pool_show};
REGISTER_PROC(poolsize_entry);
REGISTER_PROC(entropy_avail_entry);
static const struct text_file uuid_entry = {.path = "sys/kernel/random/uuid", .mode = 0444, .show = uuid_show};
static const struct text_file boot_id_entry = {.path = "sys/kernel/random/boot_id", .mode = 0444, .show = boot_id_show};
REGISTER_PROC(uuid_entry);
REGISTER_PROC(boot_id_entry);

/* A late initcall, so that devices have given their random bytes before. */
static int make_boot_id(void)
{
	make_uuid(boot_id);
	return 0;
}
late_initcall(make_boot_id);

/*
 * The loader's seed is used once and wiped: if it stayed in memory, a program that reads it there could compute the
 * first bytes that were given out. Boot.
 */
void random_init(void)
{
	add_random_seed(boot_info.rng_seed, boot_info.rng_seed_len);
	memset(boot_info.rng_seed, 0, sizeof(boot_info.rng_seed));
	boot_info.rng_seed_len = 0;
}
