/*
 * What lab mcount is graded with: lets the grader have instructions written, and asks what the machine layer says.
 *
 * All of it happens in a piece of text of our own that nobody ever runs, so that a wrong instruction is only read, by
 * the grader through QEMU's memory. A command is written to debugfs's lab/patch, and the file then says what came of
 * it:
 *
 *	call SLOT DISTANCE	arch_patch_write() a call there whose target is DISTANCE bytes away
 *	jump SLOT DISTANCE	a jump
 *	nop SLOT		a nop
 *	verify N K		make N slots calls of one target, all but slot K, and ask arch_patch_verify_calls()
 */
#include <arch/patch.h>
#include <fs/libfs.h>
#include <kernel/text_patch.h>
#include <lib/errno.h>
#include <lib/string.h>

#define SLOT_SIZE 16
#define NR_SLOTS  64

/* Between functions of the kernel's text, never called. */
__asm__(".pushsection .text\n"
	".balign 64\n"
	".globl lab_ground\n"
	"lab_ground: .skip 1024\n"
	".popsection");
extern char lab_ground[];

struct order {
	char what;
	unsigned long slot, number;
	long distance, result;
};

static long lab_result; /* of the last command. [the grader writes one at a time] */

static unsigned long slot_address(unsigned long slot)
{
	return (unsigned long)lab_ground + slot * SLOT_SIZE;
}

/* N slots in ascending order, all calls of a target that is in reach, and then slot K a jump to the same place. */
static notrace long verify_slots(unsigned long n, unsigned long k)
{
	unsigned long sites[NR_SLOTS], target = (unsigned long)lab_ground + NR_SLOTS * SLOT_SIZE;

	for (unsigned long i = 0; i < n; i++) {
		sites[i] = slot_address(i);
		arch_patch_write(sites[i], target, i == k ? PATCH_JUMP : PATCH_CALL);
	}
	/* What was written counts as written before it is in force: the data side sees it at once. */
	return arch_patch_verify_calls(sites, n, target);
}

/* With every other CPU parked (text_patch_stopped). */
static notrace void lab_do(void *data)
{
	struct order *o = data;
	unsigned long site = slot_address(o->slot);

	if (o->what == 'v')
		o->result = verify_slots(o->slot, o->number);
	else if (o->what == 'n')
		o->result = arch_patch_write(site, 0, PATCH_CALL);
	else
		o->result = arch_patch_write(site, site + o->distance, o->what == 'c' ? PATCH_CALL : PATCH_JUMP);
}

static int lab_store(char *text, void *data)
{
	struct order o = {};
	char *word = strsep(&text, " ");

	o.what = word[0];
	if (!(word = strsep(&text, " ")) || kstrtoul(word, 0, &o.slot) || o.slot > NR_SLOTS)
		return -EINVAL;
	if (text && o.what == 'v' && kstrtoul(text, 0, &o.number))
		return -EINVAL;
	if (text && o.what != 'v' && kstrtol(text, 0, &o.distance))
		return -EINVAL;
	mutex_lock(&text_mutex);
	text_patch_stopped(lab_do, &o);
	mutex_unlock(&text_mutex);
	lab_result = o.result;
	return 0;
}

static int lab_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%ld\n", lab_result);
	return 0;
}

static const struct text_file lab_file = {.path = "lab/patch", .mode = 0600, .show = lab_show, .store = lab_store};
REGISTER_DEBUGFS(lab_file);
