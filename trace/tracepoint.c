/* Registering probes with tracepoints. */
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <trace/tracepoint.h>

/* Serialises changes of every tracepoint's probes; callers of the points only read tp->funcs. */
static DEFINE_MUTEX(tracepoints_mutex);

static int count_funcs(const struct tracepoint_func *funcs)
{
	int n = 0;

	while (funcs && funcs[n].func)
		n++;
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

static int add_func(struct tracepoint *tp, void *probe, void *data)
{
	int n = count_funcs(tp->funcs);
	struct tracepoint_func *new;

	if (find_func(tp->funcs, probe, data) >= 0)
		return -EEXIST;
	new = kcalloc(n + 2, sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	if (n)
		memcpy(new, tp->funcs, n * sizeof(*new));
	new[n] = (struct tracepoint_func){ probe, data };
	publish_funcs(tp, new);
	if (n == 0)
		static_key_slow_inc(&tp->key);
	return 0;
}

static int remove_func(struct tracepoint *tp, void *probe, void *data)
{
	int n = count_funcs(tp->funcs);
	int at = find_func(tp->funcs, probe, data);
	struct tracepoint_func *new = NULL;

	if (at < 0)
		return -ENOENT;
	if (n > 1) {
		new = kcalloc(n, sizeof(*new), GFP_KERNEL);
		if (!new)
			return -ENOMEM;
		memcpy(new, tp->funcs, at * sizeof(*new));
		memcpy(new + at, tp->funcs + at + 1, (n - 1 - at) * sizeof(*new));
	} else {
		static_key_slow_dec(&tp->key);
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
