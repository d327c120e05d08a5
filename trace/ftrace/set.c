/*
 * Sets of traced functions: matching names, copying, and the in-kernel interface to a user's sets.
 *
 * A set is a bit for each call site, in the order of their addresses, with a count of the bits that are set. An empty
 * set has no bitmap at all: for a filter it means every function, for an exclude set none. A change is made on a copy,
 * which takes the place of the set only when all of it was good, so a refused write changes nothing. Lock: ftrace_lock
 * for the sets of a registered user; a copy is its maker's alone.
 */
#include <kernel/export.h>
#include <kernel/ksyms.h>
#include <kernel/module.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>
#include <sched/sched.h>

#include "core/array.h"
#include "internal.h"

notrace void ftrace_set_refresh(struct ftrace_set *set)
{
	const struct ftrace_late_sites *late = ftrace_late_sites();

	if (late)
		late->refresh(set);
}

/* A bitmap for all sites that the kernel and its modules may have. Its size is fixed when the kernel boots. */
static size_t set_bytes(void)
{
	return BITS_TO_LONGS(ftrace_nr_recs) * sizeof(long);
}

/* The bitmap is made with the first bit. 0, -ENOMEM. */
static int set_alloc(struct ftrace_set *set)
{
	if (!set->bits)
		set->bits = kzalloc(set_bytes(), GFP_KERNEL);
	if (set->bits)
		ftrace_set_refresh(set);
	return set->bits ? 0 : -ENOMEM;
}

void ftrace_set_clear(struct ftrace_set *set)
{
	kfree(set->bits);
	*set = (struct ftrace_set){};
}

/* `to` is overwritten, whatever it was. A copy of an empty set needs no memory, so clearing a filter cannot fail. */
int ftrace_set_copy(struct ftrace_set *to, struct ftrace_set *from)
{
	*to = (struct ftrace_set){};
	ftrace_set_refresh(from);
	if (!from->count)
		return 0;
	to->bits = kmemdup(from->bits, set_bytes(), GFP_KERNEL);
	if (!to->bits)
		return -ENOMEM;
	to->count = from->count;
	to->waits = from->waits;
	to->lost = from->lost;
	to->seen = from->seen;
	return 0;
}

/*
 * A set that waits for a module counts one more than its bits. So it is not empty, and a filter that names only
 * functions of a module to come traces nothing, and not everything.
 */
int ftrace_set_wait(struct ftrace_set *set, bool waits)
{
	if (set->waits == waits)
		return 0;
	if (set_alloc(set))
		return -ENOMEM;
	set->waits = waits;
	set->count += waits ? 1 : -1;
	return 0;
}

/* The count follows the bits, so that "is it empty?" needs no walk. */
static void set_one(struct ftrace_set *set, unsigned rec, bool add)
{
	unsigned long bit = BIT(rec % 64), *word = &set->bits[rec / 64];

	if (!(*word & bit) == add) {
		*word ^= bit;
		set->count += add ? 1 : -1;
	}
}

/*
 * A word may be a number: "12" names the 12th line of available_filter_functions, as in Linux. False: it is no number.
 */
static bool match_by_number(struct ftrace_set *set, const char *pattern, bool add)
{
	unsigned long nr;
	unsigned rec;

	if (!isdigit(*pattern) || kstrtoul(pattern, 10, &nr) || nr == 0 || nr > ftrace_nr_sites)
		return false;
	for_each_ftrace_rec(rec)
		if (!--nr) {
			set_one(set, rec, add);
			break;
		}
	return true;
}

/* All functions whose names match; how many. Tasks that want the lock wait for these comparisons. [ftrace_lock] */
static unsigned match_names(struct ftrace_set *set, const char *pattern, bool add)
{
	unsigned found = 0, rec;

	for_each_ftrace_rec(rec) {
		if (!glob_match(pattern, ftrace_rec_name(&ftrace_recs[rec])))
			continue;
		set_one(set, rec, add);
		found++;
	}
	return found;
}

/* With "!" before its name, all functions that are not the module's. */
int ftrace_set_match_module(struct ftrace_set *set, const char *pattern, const char *module, bool add)
{
	bool others = *module == '!', any = false;
	unsigned rec;

	if (!set->bits && !add)
		return 0;
	if (set_alloc(set))
		return -ENOMEM;
	for_each_ftrace_rec(rec) {
		const char *owner = ftrace_rec_module(&ftrace_recs[rec]);

		if ((owner && !strcmp(owner, module + others)) == others ||
		    !glob_match(pattern, ftrace_rec_name(&ftrace_recs[rec])))
			continue;
		set_one(set, rec, add);
		any = true;
	}
	return any ? 0 : -EINVAL;
}

bool ftrace_set_leave(struct ftrace_set *set, const struct module *mod)
{
	unsigned before = set->count;

	for (unsigned rec = ftrace_nr_kernel_recs; set->bits && rec < ftrace_recs_end; rec++)
		if (test_bit(rec, set->bits) && module_frees(mod, ftrace_recs[rec].ip))
			set_one(set, rec, false);
	return set->count != before;
}

/* [ftrace_lock] */
static int set_match(struct ftrace_set *set, const char *pattern, bool add)
{
	if (!set->bits && !add)
		return 0; /* nothing to take away from */
	if (set_alloc(set))
		return -ENOMEM;
	return match_by_number(set, pattern, add) || match_names(set, pattern, add) ? 0 : -EINVAL;
}

/*
 * The set is the caller's own and needs no lock, but the names of modules' functions do: without it a module could be
 * freed while its names are compared.
 */
int ftrace_set_match(struct ftrace_set *set, const char *pattern, bool add)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = set_match(set, pattern, add);
	mutex_unlock(&ftrace_lock);
	return ret;
}

/* [ftrace_lock] With preemption off the module that is found cannot be freed. */
static bool is_staying(unsigned long ip)
{
	const struct module *mod;
	bool stays;

	preempt_disable_notrace();
	mod = __module_address(ip);
	stays = mod && module_will_tell(mod, ip);
	preempt_enable_notrace();
	return stays;
}

void ftrace_set_drop_going(struct ftrace_set *set, const struct ftrace_set *had)
{
	for (unsigned rec = ftrace_nr_kernel_recs; set->bits && rec < ftrace_recs_end; rec++)
		if (test_bit(rec, set->bits) && !(had->count && test_bit(rec, had->bits)) &&
		    !is_staying(ftrace_recs[rec].ip))
			set_one(set, rec, false);
}

/* In one piece: a record that was just found and is forgotten before the look at its module would be another's. */
int ftrace_set_match_staying(struct ftrace_set *set, const char *pattern, const struct ftrace_set *had)
{
	int ret;

	mutex_lock(&ftrace_lock);
	ret = set_match(set, pattern, true);
	ftrace_set_drop_going(set, had);
	mutex_unlock(&ftrace_lock);
	return ret;
}

/* The same for words that are names and never numbers. Taking away what is not there is -EINVAL. */
int ftrace_set_match_names(struct ftrace_set *set, const char *pattern, bool add)
{
	unsigned before;
	int ret = -ENOMEM;

	if (isdigit(*pattern))
		return -EINVAL;
	mutex_lock(&ftrace_lock);
	if (!set_alloc(set)) {
		before = set->count;
		ret = match_names(set, pattern, add) && (add || set->count != before) ? 0 : -EINVAL;
	}
	mutex_unlock(&ftrace_lock);
	return ret;
}

/*
 * The site of a function is at its first address, or some instructions behind it (aarch64 stores the return address
 * first, x86_64 may begin with endbr64). So ip is good as the site itself or as the begin of a symbol whose first site
 * lies inside that symbol.
 */
unsigned long ftrace_location(unsigned long ip)
{
	const struct ftrace_late_sites *late = ftrace_late_sites();
	long sym = symbol_index(ip);
	struct ksym start, site;
	unsigned rec = ftrace_rec_at_or_after(ip);

	if (ftrace_rec_of(ip) >= 0)
		return ip;
	if (is_module_addr((void *)ip))
		return late ? late->location(ip) : 0;
	if (sym < 0 || !kallsyms_symbol(sym, &start) || start.address != ip)
		return 0;
	if (rec == ftrace_nr_recs || !kallsyms_symbol(symbol_index(ftrace_recs[rec].ip), &site) || site.address != ip)
		return 0;
	return ftrace_recs[rec].ip;
}
EXPORT_SYMBOL_GPL(ftrace_location);

static int match_ip(struct ftrace_set *set, unsigned long ip, bool remove)
{
	long rec = ftrace_rec_of(ftrace_location(ip));

	if (rec < 0)
		return -EINVAL;
	if (remove && !(set->count && test_bit(rec, set->bits)))
		return -ENOENT;
	if (set_alloc(set))
		return -ENOMEM;
	set_one(set, rec, !remove);
	return 0;
}

/* A change of one of the sets of a user: a pattern, or, when that is NULL and ip is not 0, one function. */
struct set_edit {
	const char *pattern;
	unsigned long ip;
	bool remove, reset;
};

/*
 * Change one of a user's sets. With `reset` the new set begins empty, else as a copy of the old one. The call sites are
 * switched by ftrace_ops_replace_set(), and only if the user is registered. 0, -EINVAL, -ENOENT, -ENOMEM. Thread
 * context; takes ftrace_lock.
 *
 * Sets of functions are exchanged without readers' locks.
 *
 * ftrace_ops_list_func reads the bitmaps of all users with preemption off. A stop parks every CPU in a thread, so on
 * no CPU is code running with preemption off other than the stop itself: no CPU reads the sets while they are swapped,
 * and the old set can be freed at once. No RCU is needed, and no pointer is published.
 */
static int edit_set(struct ftrace_ops *ops, bool exclude, const struct set_edit *edit)
{
	struct ftrace_ops *owner = ops->sets_of ?: ops;
	struct ftrace_set *set = exclude ? &owner->exclude : &owner->filter, new = {};
	int ret = 0;

	mutex_lock(&ftrace_lock);
	if (!edit->reset)
		ret = ftrace_set_copy(&new, set);
	if (!ret && edit->pattern)
		ret = set_match(&new, edit->pattern, !edit->remove);
	else if (!ret && edit->ip)
		ret = match_ip(&new, edit->ip, edit->remove);
	if (!ret)
		ret = ftrace_ops_replace_set(owner, set, &new);
	mutex_unlock(&ftrace_lock);
	ftrace_set_clear(&new);
	return ret;
}

/*
 * The pattern of the in-kernel interface is `len` bytes without an end. buf NULL: no pattern, which empties a set with
 * reset.
 */
static int edit_by_pattern(struct ftrace_ops *ops, bool exclude, const unsigned char *buf, int len, bool reset)
{
	char pattern[KSYM_NAME_LEN];
	struct set_edit edit = {.reset = reset};

	if (!buf)
		return edit_set(ops, exclude, &edit);
	edit.remove = len > 0 && buf[0] == '!';
	buf += edit.remove;
	len -= edit.remove;
	if (len <= 0 || len >= (int)sizeof(pattern))
		return -EINVAL;
	memcpy(pattern, buf, len);
	pattern[len] = '\0';
	edit.pattern = pattern;
	return edit_set(ops, exclude, &edit);
}

int ftrace_set_filter(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return edit_by_pattern(ops, false, buf, len, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_filter);

int ftrace_set_notrace(struct ftrace_ops *ops, unsigned char *buf, int len, int reset)
{
	return edit_by_pattern(ops, true, buf, len, reset);
}
EXPORT_SYMBOL_GPL(ftrace_set_notrace);

int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip, int remove, int reset)
{
	const struct set_edit edit = {.ip = ip, .remove = remove, .reset = reset};

	return ip ? edit_set(ops, false, &edit) : -EINVAL;
}
EXPORT_SYMBOL_GPL(ftrace_set_filter_ip);

/* The sets of a user that is not registered any more. One that is would be called by sites that its sets still name. */
void ftrace_free_filter(struct ftrace_ops *ops)
{
	mutex_lock(&ftrace_lock);
	if (!WARN_ON(ops->flags & FTRACE_OPS_FL_ENABLED)) {
		ftrace_set_clear(&ops->filter);
		ftrace_set_clear(&ops->exclude);
	}
	mutex_unlock(&ftrace_lock);
}
EXPORT_SYMBOL_GPL(ftrace_free_filter);
