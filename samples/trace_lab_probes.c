/*
 * Do probes come and go as promised? A test lets one task pass a tracepoint again and again while another registers and
 * unregisters probes. Files of debugfs's lab/:
 *
 *	hit	a number: pass the tracepoint lab_hit so many times
 *	probes	a number: register a probe and unregister it so many times; reading shows the sums of all since boot:
 *		seen (hits that the probe saw), lost (hits that it should have seen), late (hits after it was gone)
 *
 * lost and late must stay 0.
 */
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/mutex.h>
#include <sched/sched.h>
#include <trace/events/lab.h>

static DEFINE_MUTEX(probes_mutex); /* probes are changed */

/*
 * The probe is certainly registered while this is odd: raised after registering, and again before unregistering.
 * [probes_mutex to change; read by hits]
 */
static u32 probe_round;
static atomic_t seen_hits, lost_hits, late_hits;

struct lab_probe {
	int bit;   /* [I] what it adds to a hit's word */
	bool gone; /* [probes_mutex to change; read by the probe] it must not be called now */
};
static struct lab_probe turning[2] = {{.bit = 1}, {.bit = 1}}; /* one of them is long gone */
static struct lab_probe bystander = {.bit = 2};

/* The probe answers through the hit's own argument, so no hit can take another's answer for its own. */
static notrace void probe_hit(void *data, int *seen)
{
	struct lab_probe *probe = data;

	if (READ_ONCE(probe->gone))
		atomic_inc(&late_hits);
	*seen |= probe->bit;
}

/*
 * One hit. When the round was odd before and is the same after, the probe was there all the time, and must have seen
 * this hit.
 */
static noinline void lab_hit(void)
{
	u32 before = smp_load_acquire(&probe_round);
	int seen = 0;

	trace_lab_hit(&seen);
	if (seen & 1)
		atomic_inc(&seen_hits);
	smp_rmb(); /* the point's probes, then the round: the task that removes one ends its round first */
	if ((before & 1) && READ_ONCE(probe_round) == before && !(seen & 1))
		atomic_inc(&lost_hits);
}

/* -EINTR: a signal ended it early. */
static int hit_many(unsigned n)
{
	while (n--) {
		lab_hit();
		cond_resched();
		if (signal_pending(current))
			return -EINTR;
	}
	return 0;
}

/*
 * In every other four rounds there is a second probe on the point, so that lists of two are made and taken apart while
 * hits walk them.
 */
static int turn_bystander(unsigned n)
{
	if (n % 4)
		return 0;
	return n % 8 ? register_trace_lab_hit(probe_hit, &bystander) : unregister_trace_lab_hit(probe_hit, &bystander);
}

/*
 * One round. After tracepoint_synchronize_unregister() no CPU may be in the probe any more; only then it is marked as
 * gone, so a call that finds the mark is late.
 */
static int turn(struct lab_probe *probe)
{
	int ret;

	WRITE_ONCE(probe->gone, false);
	ret = register_trace_lab_hit(probe_hit, probe);
	if (ret)
		return ret;
	smp_store_release(&probe_round, probe_round + 1);
	lab_hit();
	WRITE_ONCE(probe_round, probe_round + 1);
	smp_mb(); /* before the probe goes; pairs with lab_hit() */
	unregister_trace_lab_hit(probe_hit, probe);
	tracepoint_synchronize_unregister();
	WRITE_ONCE(probe->gone, true);
	return 0;
}

/* Two probes take turns, so that the one that went stays untouched for a whole round, and a late call would be seen. */
static int turn_many(unsigned n)
{
	int ret = 0;

	for (unsigned i = 1; i <= n && !ret; i++) {
		ret = turn(&turning[i % 2]);
		if (!ret)
			ret = turn_bystander(i);
		if (signal_pending(current))
			ret = -EINTR;
	}
	unregister_trace_lab_hit(probe_hit, &bystander); /* -ENOENT: it is not there */
	return ret;
}

static int hit_store(char *text, void *data)
{
	unsigned number;
	int ret = kstrtouint(text, 10, &number);

	return ret ?: hit_many(number);
}

static int probes_store(char *text, void *data)
{
	unsigned number;
	int ret = kstrtouint(text, 10, &number);

	if (ret)
		return ret;
	mutex_lock(&probes_mutex);
	ret = turn_many(number);
	mutex_unlock(&probes_mutex);
	return ret;
}

static int probes_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "seen: %d\nlost: %d\nlate: %d\n", atomic_read(&seen_hits), atomic_read(&lost_hits),
		   atomic_read(&late_hits));
	return 0;
}

static const struct text_file hit_file = {.path = "lab/hit", .mode = 0200, .store = hit_store};
static const struct text_file probes_file = {
	.path = "lab/probes", .mode = 0600, .show = probes_show, .store = probes_store};
REGISTER_DEBUGFS(hit_file);
REGISTER_DEBUGFS(probes_file);
