/* Registering probes with tracepoints. */
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <trace/tracepoint.h>

/* Serialises changes of every tracepoint's probes; callers of the points only read tp->funcs. */
static DEFINE_MUTEX(tracepoints_mutex);

/* Stands where a probe was that had to go without memory for a shorter array. Called as whatever that was. */
static notrace void no_probe(void *data)
{
}

/* Entries, those of no_probe too. */
static int count_funcs(const struct tracepoint_func *funcs)
{
	int n = 0;

	while (funcs && funcs[n].func)
		n++;
	return n;
}

/* The probes of `from` but number `skip` (-1: all) into `to`, where there is room. Returns how many they are. */
static int copy_probes(struct tracepoint_func *to, const struct tracepoint_func *from, int skip)
{
	int n = 0;

	for (int i = 0; from && from[i].func; i++)
		if (i != skip && from[i].func != (void *)no_probe)
			to[n++] = from[i];
	return n;
}

static int find_func(const struct tracepoint_func *funcs, void *probe, void *data)
{
	for (int i = 0; funcs && funcs[i].func; i++)
		if (funcs[i].func == probe && funcs[i].data == data)
			return i;
	return -1;
}

/* The new array is whole before callers can see it; the old one goes when no caller can be walking it. */
static void publish_funcs(struct tracepoint *tp, struct tracepoint_func *new)
{
	struct tracepoint_func *old = tp->funcs;

	smp_store_release(&tp->funcs, new);
	if (old) {
		synchronize_rcu();
		kfree(old);
	}
}

/* The key is on while there is an array, and so is what regfunc has begun. */
static int start_point(struct tracepoint *tp)
{
	return tp->regfunc ? tp->regfunc() : 0;
}

static void stop_point(struct tracepoint *tp)
{
	static_key_slow_dec(&tp->key);
	if (tp->unregfunc)
		tp->unregfunc();
}

static int add_func(struct tracepoint *tp, void *probe, void *data)
{
	struct tracepoint_func *new, *old = tp->funcs;
	int ret;

	if (find_func(old, probe, data) >= 0)
		return -EEXIST;
	new = kcalloc(count_funcs(old) + 2, sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	ret = old ? 0 : start_point(tp);
	if (ret) {
		kfree(new);
		return ret;
	}
	new[copy_probes(new, old, -1)] = (struct tracepoint_func){ probe, data };
	publish_funcs(tp, new);
	if (!old)
		static_key_slow_inc(&tp->key);
	return 0;
}

/* Cannot fail but for a probe that is not there: who unregisters is about to free what the probe uses. */
static int remove_func(struct tracepoint *tp, void *probe, void *data)
{
	int at = find_func(tp->funcs, probe, data);
	struct tracepoint_func *new;

	if (at < 0)
		return -ENOENT;
	new = kcalloc(count_funcs(tp->funcs), sizeof(*new), GFP_KERNEL);
	if (!new) {
		WRITE_ONCE(tp->funcs[at].func, (void *)no_probe);
		synchronize_rcu();
		return 0;
	}
	if (!copy_probes(new, tp->funcs, at)) {
		kfree(new);
		new = NULL;
		stop_point(tp);
	}
	publish_funcs(tp, new);
	return 0;
}

int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	int ret;

	mutex_lock(&tracepoints_mutex);
	ret = add_func(tp, probe, data);
	mutex_unlock(&tracepoints_mutex);
	return ret;
}

int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	int ret;

	mutex_lock(&tracepoints_mutex);
	ret = remove_func(tp, probe, data);
	mutex_unlock(&tracepoints_mutex);
	return ret;
}

void tracepoint_synchronize_unregister(void)
{
	synchronize_rcu();
}
