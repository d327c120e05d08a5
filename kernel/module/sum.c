/*
 * The checksum of a module's file, which the link writes as a line at its end (tools/modsum.py):
 *
 *	~module sum 0123456789abcdef~
 *
 * It is about all bytes before the line. A file that was cut off, damaged on its way, or changed after the link is
 * refused here, in one line of the log, before anything else of it is read. The sum is no signature: whoever may load a
 * module can also write the sum of another file. It keeps accidents out, and only these; so what the loader reads
 * afterwards is checked by itself (elf.c, check.c).
 *
 * The errno is ENOEXEC, as for any file that is no good module. Linux refuses a bad signature with EKEYREJECTED, but no
 * key is at fault here, and "Key was rejected" would lead a reader astray.
 */
#include "internal.h"

#include <lib/printf.h>
#include <lib/string.h>

#define SUM_MARK "~module sum "
#define SUM_LINE sizeof(SUM_MARK "0123456789abcdef~") /* its newline in place of the zero */

/* 2 to the 64th over the golden ratio, for its mixture of bits (Knuth, The Art of Computer Programming, 6.4). */
#define SUM_FACTOR 0x9e3779b97f4a7c15ULL

static inline u64 sum_step(u64 sum, u64 word)
{
	sum ^= word;
	return (sum << 29 | sum >> 35) * SUM_FACTOR;
}

/*
 * Words of 64 bits, the last one filled up with zeroes, so that a megabyte is read in a fraction of the time that a sum
 * over bytes takes. For a given word each step maps sums one to one, and for a given sum it does so with words. So two
 * files of one length that differ in one word have different sums for certain, and other two but for one case in 2^64.
 */
static u64 sum_of(const u8 *file, size_t n)
{
	const u64 *word = (const void *)file; /* aligned, as kvmalloc() gives it */
	u64 sum = n, last = 0;

	for (; n >= sizeof(*word); n -= sizeof(*word))
		sum = sum_step(sum, *word++);
	memcpy(&last, word, n);
	return sum_step(sum, last);
}

/* The line is compared as text, so that each of its bits counts. */
int module_check_sum(struct load_info *info)
{
	size_t n = info->len - SUM_LINE;
	char right[SUM_LINE + 1];

	if (info->len < SUM_LINE || memcmp(info->file + n, SUM_MARK, strlen(SUM_MARK)))
		return module_refuse(info, -ENOEXEC,
				     "no checksum ends it: it was cut off, or changed by a tool such as strip "
				     "(tools/modsum.py), or `make modules` has not linked it");
	scnprintf(right, sizeof(right), SUM_MARK "%016llx~\n", (unsigned long long)sum_of(info->file, n));
	if (memcmp(info->file + n, right, SUM_LINE))
		return module_refuse(info, -ENOEXEC,
				     "its checksum is wrong: it was damaged or changed after its link "
				     "(tools/modsum.py)");
	info->len = n;
	return 0;
}
