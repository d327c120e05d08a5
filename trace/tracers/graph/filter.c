/*
 * Which calls function_graph begins and stops at: set_graph_function and set_graph_notrace, by address, and the depth.
 *
 * The question "is this function in the set?" is asked at every traced call, so the set is kept twice: as bits by site,
 * which the files show and change, and as a hash of addresses, which the tracer asks. Lock: trace_types_lock and
 * ftrace_lock for changes; the tracer reads the hash with preemption off, and a hash that was replaced is freed after a
 * grace period.
 */
#include <kernel/module.h>
#include <lib/errno.h>
#include <lib/hash.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>

#include "ftrace/internal.h"
#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "graph.h"

/*
 * Open addressing: an address lies at its place or in one of the next places, up to the first free one. At least half
 * of the places are free, so a search for an address that is not there is short. A table is never changed; a new one
 * replaces it as a whole.
 */
struct ip_hash {
	unsigned long mask;  /* places less one, a power of two less one */
	unsigned long ips[]; /* 0: free */
};

/*
 * Sites are at least four bytes apart on one machine, at any distance on the other. A multiplication by 2^32 divided by
 * the golden ratio spreads them (Knuth, The Art of Computer Programming, vol. 3, 6.4), and the middle bits of the
 * product are the place.
 */
static __always_inline unsigned long ip_place(unsigned long ip)
{
	return hash_32(ip, 20);
}

bool ip_hash_has(const struct ip_hash *hash, unsigned long ip)
{
	unsigned long i = ip_place(ip), mask = hash->mask, found;

	while ((found = hash->ips[i++ & mask]))
		if (found == ip)
			return true;
	return false;
}

/* There always is a free place, because the table has at least twice as many places as addresses. */
static void ip_hash_add(struct ip_hash *hash, unsigned long ip)
{
	unsigned long i = ip_place(ip);

	while (hash->ips[i & hash->mask])
		i++;
	hash->ips[i & hash->mask] = ip;
}

/* The addresses of a set's sites. NULL when out of memory. */
static struct ip_hash *ip_hash_alloc(const struct ftrace_set *set)
{
	unsigned long places = 16;
	struct ip_hash *hash;

	while (places < 2UL * set->count)
		places *= 2;
	hash = kzalloc(sizeof(*hash) + places * sizeof(long), GFP_KERNEL);
	if (!hash)
		return NULL;
	hash->mask = places - 1;
	for (unsigned rec = find_next_bit(set->bits, ftrace_nr_recs, 0); rec < ftrace_nr_recs;
	     rec = find_next_bit(set->bits, ftrace_nr_recs, rec + 1))
		ip_hash_add(hash, ftrace_recs[rec].ip);
	return hash;
}

/*
 * The sets of set_graph_function and set_graph_notrace of the top array. Instances have none of their own, as in Linux.
 */
struct graph_filter graph_functions, graph_notrace;
u32 max_graph_depth;

/*
 * `with` takes the place of the filter's set and gets the old one, for the caller to free. An empty set has no hash,
 * which means: no filter. A function does not join when its module is going already: filter_drop() may have been here
 * before, and the hash would keep its address. A set that has no other function then waits, as there. 0, -ENOMEM with
 * nothing changed. Sleeps for a grace period. [trace_types_lock]
 */
static int filter_replace(struct graph_filter *filter, struct ftrace_set *with)
{
	struct ip_hash *old = NULL, *new = NULL;
	bool any;
	int err = 0;

	mutex_lock(&ftrace_lock);
	ftrace_set_refresh(with);
	any = with->count;
	ftrace_set_drop_going(with, &filter->set);
	if (any && !with->count)
		err = ftrace_set_wait(with, true);
	if (!err && with->count) {
		new = ip_hash_alloc(with);
		err = new ? 0 : -ENOMEM;
	}
	if (!err) {
		/* Release: a CPU that loads the new pointer with acquire (graph_limits_want) finds the table filled. */
		old = filter->hash;
		smp_store_release(&filter->hash, new);
		swap(filter->set, *with);
	}
	mutex_unlock(&ftrace_lock);
	if (err)
		return err;
	graph_update_fast(&global_trace);
	synchronize_rcu();
	kfree(old);
	return 0;
}

int graph_filter_replace(struct graph_filter *filter, struct ftrace_set *with)
{
	int err;

	mutex_lock(&trace_types_lock);
	err = filter_replace(filter, with);
	mutex_unlock(&trace_types_lock);
	return err;
}

/*
 * Functions whose text goes, that of a module's init or all of it, leave the filter, or functions of the next module at
 * their addresses would match. A filter with no function left must not mean "all functions": it waits
 * (ftrace_set_wait). Without memory for the new table the old one stays. trace_types_lock is held from the copy to the
 * exchange, or a set that is written meanwhile would be lost.
 */
static void filter_drop(struct graph_filter *filter, const struct module *mod)
{
	struct ftrace_set set;
	unsigned had;
	int err;

	mutex_lock(&trace_types_lock);
	mutex_lock(&ftrace_lock);
	had = filter->set.count;
	err = ftrace_set_copy(&set, &filter->set);
	if (!err)
		ftrace_set_leave(&set, mod);
	if (!err && had && !set.count)
		err = ftrace_set_wait(&set, true);
	mutex_unlock(&ftrace_lock);
	if (!err && had)
		filter_replace(filter, &set);
	mutex_unlock(&trace_types_lock);
	ftrace_set_clear(&set);
}

static void text_goes(struct module *mod)
{
	filter_drop(&graph_functions, mod);
	filter_drop(&graph_notrace, mod);
}

static const struct module_notifier graph_notifier = {.live = text_goes, .going = text_goes};
REGISTER_MODULE_NOTIFIER(graph_notifier);

/* For the command line, where words come one by one. 0, -EINVAL, -ENOMEM. */
int graph_filter_add(struct graph_filter *filter, const char *pattern)
{
	struct ftrace_set set = {};
	int ret;

	mutex_lock(&ftrace_lock);
	ret = ftrace_set_copy(&set, &filter->set);
	mutex_unlock(&ftrace_lock);
	if (!ret)
		ret = ftrace_set_match_names(&set, pattern, true);
	if (!ret)
		ret = graph_filter_replace(filter, &set);
	ftrace_set_clear(&set);
	return ret;
}

static int max_graph_depth_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%u\n", READ_ONCE(max_graph_depth));
	return 0;
}

/* The direct way without limits does not look at the depth, so which way calls go is decided again after the change. */
static int max_graph_depth_store(char *text, void *data)
{
	struct trace_array *tr = trace_file_array(data);
	unsigned long val;
	int ret = kstrtoul(text, 10, &val);

	if (ret)
		return ret;
	if (val > ~0U)
		return -ERANGE;
	mutex_lock(&trace_types_lock);
	WRITE_ONCE(max_graph_depth, val);
	graph_update_fast(tr);
	mutex_unlock(&trace_types_lock);
	return 0;
}
TRACEFS_NUMBER_FILE(max_graph_depth, "max_graph_depth", 0640, TRACEFS_TOP, max_graph_depth_show, max_graph_depth_store);
TRACEFS_TAKES(max_graph_depth, "max_graph_depth", "a number of calls inside of each other; 0: all of them");
