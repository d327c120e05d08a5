/*
 * Registering probes with tracepoints. Callers walk an array of probes with preemption off; a change publishes another
 * array at once. Two things are left for later, when all changes of a request are made: the stop of the machine that
 * switches the sites, and the grace period after which the old arrays are freed.
 */
#include <kernel/export.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <trace/tracepoint.h>

extern struct tracepoint *const __start_ptrs_tracepoints[], *const __stop_ptrs_tracepoints[];

/* Serialises changes of every tracepoint's probes; callers of the points only read tp->funcs. */
static DEFINE_MUTEX(tracepoints_mutex);

/*
 * Replaces a probe that had to go when there was no memory for a shorter array. It is called with the probe's
 * arguments, and looks at none of them.
 */
static notrace void no_probe(void *data)
{
}

/* How many entries an array has; those of no_probe count too. */
static int count_funcs(const struct tracepoint_func *funcs)
{
	int n = 0;

	while (funcs && funcs[n].func)
		n++;
	return n;
}

/*
 * Copy the probes of `from` but number `skip` (-1: all) to `to`, which has room for them and is zeroed, so the
 * entry that ends the array is there. Places held by no_probe are left out. Returns how many were copied.
 */
static int copy_probes(struct tracepoint_func *to, const struct tracepoint_func *from, int skip)
{
	int n = 0;

	for (int i = 0; from && from[i].func; i++)
		if (i != skip && from[i].func != (void *)no_probe)
			to[n++] = from[i];
	return n;
}

/*
 * The same function may be registered several times with different data (one array each), so both must match. -1:
 * not there.
 */
static int find_func(const struct tracepoint_func *funcs, void *probe, void *data)
{
	for (int i = 0; funcs && funcs[i].func; i++)
		if (funcs[i].func == probe && funcs[i].data == data)
			return i;
	return -1;
}

/* An array and, when callers may still be walking it though it is out of use, the next such array. */
struct probe_array {
	struct probe_array *retired;
	struct tracepoint_func funcs[];
};

/* Arrays that are out of use and not freed yet. [tracepoints_mutex] */
static struct probe_array *retired_arrays;
/* no_probe has replaced a probe, in which a caller may still be. [tracepoints_mutex] */
static bool grace_period_due;
/* The moment when one of these two was last changed, for cond_synchronize_rcu. [tracepoints_mutex] */
static u64 last_retired;

static struct tracepoint_func *alloc_funcs(int n)
{
	struct probe_array *array = kzalloc(sizeof(*array) + n * sizeof(array->funcs[0]), GFP_KERNEL);

	return array ? array->funcs : NULL;
}

/* Only for an array that was never published: no caller can be walking it. */
static void free_funcs(struct tracepoint_func *funcs)
{
	kfree(container_of(funcs, struct probe_array, funcs[0]));
}

/* The new array is whole before callers can see it; switch_and_wait() frees the old one. */
static void publish_funcs(struct tracepoint *tp, struct tracepoint_func *new)
{
	struct tracepoint_func *old = tp->funcs;

	smp_store_release(&tp->funcs, new);
	if (old) {
		struct probe_array *array = container_of(old, struct probe_array, funcs[0]);

		array->retired = retired_arrays;
		retired_arrays = array;
		last_retired = get_state_synchronize_rcu();
	}
}

/*
 * Switch the sites of all changes since the last time, in one stop of the machine at most, and free the arrays that are
 * out of use. The stop is a grace period; cond_synchronize_rcu waits only when there was no stop. `wait`: wait even if
 * nothing is to be freed. tracepoints_mutex held; sleeps.
 */
static void switch_and_wait(bool wait)
{
	struct probe_array *array = retired_arrays, *next;
	u64 state = wait ? get_state_synchronize_rcu() : last_retired;

	static_key_switch();
	if (wait || array || grace_period_due)
		cond_synchronize_rcu(state);
	retired_arrays = NULL;
	grace_period_due = false;
	for (; array; array = next) {
		next = array->retired;
		kfree(array);
	}
}

/*
 * The first probe of a point is coming: tell the code that has to prepare something before the point is called
 * (regfunc; the points of system calls and of sched_stat have one). 0 or -errno, and then the probe is not added.
 */
static int start_point(struct tracepoint *tp)
{
	return tp->regfunc ? tp->regfunc() : 0;
}

/* The last probe is gone: undo start_point(). The sites become nops with the next switch. */
static void stop_point(struct tracepoint *tp)
{
	static_key_dec_later(&tp->key);
	if (tp->unregfunc)
		tp->unregfunc();
}

/*
 * [tracepoints_mutex] Add a probe: readers see the old list or the new one, never one that is being changed. The
 * first probe of a point begins by telling the point itself (start_point). The call site changes with the next
 * switch. 0, -EEXIST, -ENOMEM.
 */
static int add_func(struct tracepoint *tp, void *probe, void *data)
{
	struct tracepoint_func *new, *old = tp->funcs;
	int ret;

	if (find_func(old, probe, data) >= 0)
		return -EEXIST;
	new = alloc_funcs(count_funcs(old) + 2);
	if (!new)
		return -ENOMEM;
	ret = old ? 0 : start_point(tp);
	if (ret) {
		free_funcs(new);
		return ret;
	}
	new[copy_probes(new, old, -1)] = (struct tracepoint_func){probe, data};
	publish_funcs(tp, new);
	if (!old)
		static_key_inc_later(&tp->key);
	return 0;
}

/*
 * Cannot fail but for a probe that is not there, because a caller that unregisters is about to free what the probe
 * uses. So without memory for a shorter array the probe is replaced in place by no_probe: one store, which a CPU
 * that walks the array sees or does not see. [tracepoints_mutex]
 */
static int remove_func(struct tracepoint *tp, void *probe, void *data)
{
	int at = find_func(tp->funcs, probe, data);
	struct tracepoint_func *new;

	if (at < 0)
		return -ENOENT;
	new = alloc_funcs(count_funcs(tp->funcs));
	if (!new) {
		WRITE_ONCE(tp->funcs[at].func, (void *)no_probe);
		grace_period_due = true;
		last_retired = get_state_synchronize_rcu();
		return 0;
	}
	if (!copy_probes(new, tp->funcs, at)) {
		free_funcs(new);
		new = NULL;
		stop_point(tp);
	}
	publish_funcs(tp, new);
	return 0;
}

/* One change of a point's probes, add_func or remove_func. `now`: the call sites follow at once. Returns its result. */
static int change_probes(int (*change)(struct tracepoint *tp, void *probe, void *data), struct tracepoint *tp,
			 void *probe, void *data, bool now)
{
	int ret;

	mutex_lock(&tracepoints_mutex);
	ret = change(tp, probe, data);
	if (now)
		switch_and_wait(false);
	mutex_unlock(&tracepoints_mutex);
	return ret;
}

/*
 * The call sites are not switched yet, so many probes cost one stop of the machine. Until tracepoint_switch() a new
 * probe is not called.
 */
int tracepoint_probe_register_later(struct tracepoint *tp, void *probe, void *data)
{
	return change_probes(add_func, tp, probe, data, false);
}

/* The probe may still run on return. tracepoint_synchronize_unregister() waits for it, once for many probes. */
int tracepoint_probe_unregister_later(struct tracepoint *tp, void *probe, void *data)
{
	return change_probes(remove_func, tp, probe, data, false);
}

void tracepoint_switch(void)
{
	mutex_lock(&tracepoints_mutex);
	switch_and_wait(false);
	mutex_unlock(&tracepoints_mutex);
}

/* Declared in <trace/tracepoint.h>: on return the probe is called. */
int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	return change_probes(add_func, tp, probe, data, true);
}
EXPORT_SYMBOL(tracepoint_probe_register);

/* Declared in <trace/tracepoint.h>: on return no CPU is in the probe any more. */
int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	return change_probes(remove_func, tp, probe, data, true);
}
EXPORT_SYMBOL(tracepoint_probe_unregister);

void for_each_kernel_tracepoint(void (*fn)(struct tracepoint *tp, void *priv), void *priv)
{
	for (struct tracepoint *const *tp = __start_ptrs_tracepoints; tp < __stop_ptrs_tracepoints; tp++)
		fn(*tp, priv);
}
EXPORT_SYMBOL_GPL(for_each_kernel_tracepoint);

/* Declared in <trace/tracepoint.h>. Arrays of probes are read as callers of the points do. */
const char *tracepoint_with_data(const void *start, size_t size)
{
	const char *found = NULL;

	preempt_disable();
	for (struct tracepoint *const *tp = __start_ptrs_tracepoints; tp < __stop_ptrs_tracepoints; tp++)
		for (const struct tracepoint_func *f = smp_load_acquire(&(*tp)->funcs); f && f->func; f++)
			if (f->func != (void *)no_probe && (size_t)(f->data - start) < size)
				found = (*tp)->name;
	preempt_enable();
	return found;
}

/*
 * Waits even when nothing is retired here: callers free what their probes used, and a probe may have been replaced
 * by another request's switch.
 */
void tracepoint_synchronize_unregister(void)
{
	mutex_lock(&tracepoints_mutex);
	switch_and_wait(true);
	mutex_unlock(&tracepoints_mutex);
}
EXPORT_SYMBOL(tracepoint_synchronize_unregister);

void tracepoint_probes_unregister(const struct tracepoint_probe *probes, unsigned n, void *data)
{
	while (n--)
		tracepoint_probe_unregister_later(probes[n].tp, probes[n].probe, data);
	tracepoint_synchronize_unregister();
}

/* All or none. 0 or -errno. */
int tracepoint_probes_register(const struct tracepoint_probe *probes, unsigned n, void *data)
{
	for (unsigned i = 0; i < n; i++) {
		int ret = tracepoint_probe_register_later(probes[i].tp, probes[i].probe, data);

		if (ret) {
			tracepoint_probes_unregister(probes, i, data);
			return ret;
		}
	}
	tracepoint_switch();
	return 0;
}
