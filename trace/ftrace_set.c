/* Sets of traced functions: matching names, copying, and the in-kernel interface to a user's sets. */
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "ftrace_internal.h"

static size_t set_bytes(void)
{
	return BITS_TO_LONGS(ftrace_nr_recs) * sizeof(long);
}

void ftrace_set_clear(struct ftrace_set *set)
{
	kfree(set->bits);
	*set = (struct ftrace_set){};
}

int ftrace_set_copy(struct ftrace_set *to, const struct ftrace_set *from)
{
	*to = (struct ftrace_set){};
	if (!from->count)
		return 0;
	to->bits = kmemdup(from->bits, set_bytes(), GFP_KERNEL);
	if (!to->bits)
		return -ENOMEM;
	to->count = from->count;
	return 0;
}

static void set_one(struct ftrace_set *set, unsigned rec, bool add)
{
	unsigned long bit = BIT(rec % 64), *word = &set->bits[rec / 64];

	if (!(*word & bit) == add) {
		*word ^= bit;
		set->count += add ? 1 : -1;
	}
}

/* A name is a number of the list too: "12" names the 12th line of available_filter_functions, as in Linux. */
static bool match_by_number(struct ftrace_set *set, const char *pattern, bool add)
{
	unsigned long nr;

	if (!isdigit(*pattern) || kstrtoul(pattern, 10, &nr) || nr == 0 || nr > ftrace_nr_recs)
		return false;
	set_one(set, nr - 1, add);
	return true;
}

static unsigned match_names(struct ftrace_set *set, const char *pattern, bool add)
{
	unsigned found = 0;

	for (unsigned i = 0; i < ftrace_nr_recs; i++) {
		if (!glob_match(pattern, ftrace_rec_name(&ftrace_recs[i])))
			continue;
		set_one(set, i, add);
		found++;
	}
	return found;
}

static int set_alloc(struct ftrace_set *set)
{
	if (!set->bits)
		set->bits = kzalloc(set_bytes(), GFP_KERNEL);
	return set->bits ? 0 : -ENOMEM;
}

int ftrace_set_match(struct ftrace_set *set, const char *pattern, bool add)
{
	if (!set->bits && !add)
		return 0; /* nothing to take away from */
	if (set_alloc(set))
		return -ENOMEM;
	return match_by_number(set, pattern, add) || match_names(set, pattern, add) ? 0 : -EINVAL;
}

int ftrace_set_match_names(struct ftrace_set *set, const char *pattern, bool add)
{
	unsigned before = set->count;

	if (isdigit(*pattern))
		return -EINVAL;
	if (set_alloc(set))
		return -ENOMEM;
	return match_names(set, pattern, add) && (add || set->count != before) ? 0 : -EINVAL;
}

/* Replace or extend one of the sets of a user, and let the sites follow. */
static int change_set(struct ftrace_ops *ops, struct ftrace_set *set, const char *pattern, bool reset)
{
	struct ftrace_set new = {};
	int ret = 0;

	mutex_lock(&ftrace_lock);
	if (!reset)
		ret = ftrace_set_copy(&new, set);
	if (!ret && pattern)
		ret = ftrace_set_match(&new, pattern, true);
	if (!ret)
		ret = ftrace_ops_replace_set(ops, set, &new);
	mutex_unlock(&ftrace_lock);
	ftrace_set_clear(&new);
	return ret;
}

int ftrace_set_filter(struct ftrace_ops *ops, const char *pattern, bool reset)
{
	return change_set(ops, &ops->filter, pattern, reset);
}

int ftrace_set_notrace(struct ftrace_ops *ops, const char *pattern, bool reset)
{
	return change_set(ops, &ops->exclude, pattern, reset);
}

void ftrace_free_filter(struct ftrace_ops *ops)
{
	ftrace_set_clear(&ops->filter);
	ftrace_set_clear(&ops->exclude);
}
