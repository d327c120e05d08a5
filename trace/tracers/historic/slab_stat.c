/*
 * trace_stat/slab: which call sites allocate how much, and how much of it is lost because objects are larger than what
 * was asked for. The columns are those of `perf kmem stat --caller`:
 *
 *	 Callsite                           | Total_alloc/Per | Total_req/Per   | Hit      | Frag
 *	 alloc_pipe_info+0x34/0xf0          |      2048/1024  |      1280/640   |        2 | 37.500%
 *
 * Each CPU has a table of call sites, which that CPU alone writes with interrupts off: so nothing is lost between a
 * task and an interrupt handler that allocates, or between two CPUs. A reader adds them up.
 */
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <lib/hash.h>
#include <lib/printf.h>
#include <lib/sort.h>
#include <lib/string.h>
#include <mm/slab.h>

#include "trace_stat/stat.h"
#include "slab_stat.h"

/* Open addressing; a place that has a call site keeps it. This kernel has some 300 that allocate. */
#define SLAB_SITES 1024
struct slab_site {
	unsigned long call_site; /* 0: free */
	u64 hits, bytes_req, bytes_alloc;
};
/* Locks: c this CPU, interrupts off, read by anybody; t trace_types_lock, while no probe counts. */
struct slab_cpu {
	struct slab_site *sites; /* [t] NULL before the tracer was first selected */
	u64 missed;		 /* [c] allocations whose call site found no place */
};
static DEFINE_PER_CPU(struct slab_cpu, slab_cpu);

/* The tables are allocated the first time, and kept. */
int slab_stat_reset(void)
{
	unsigned cpu;

	for_each_possible_cpu(cpu) {
		struct slab_cpu *c = per_cpu_ptr(&slab_cpu, cpu);

		if (!c->sites)
			c->sites = kvzalloc(SLAB_SITES * sizeof(*c->sites), GFP_KERNEL);
		if (!c->sites)
			return -ENOMEM; /* the CPUs that have a table keep it for the next time */
		memset(c->sites, 0, SLAB_SITES * sizeof(*c->sites));
		c->missed = 0;
	}
	return 0;
}

/* The place of a call site on this CPU, taken if need be. NULL: all are taken. Interrupts off. */
static struct slab_site *slab_site(struct slab_cpu *c, unsigned long call_site)
{
	u32 hash = hash_32(call_site, 16);

	for (unsigned n = 0; n < SLAB_SITES; n++) {
		struct slab_site *site = &c->sites[(hash + n) % SLAB_SITES];

		if (!site->call_site)
			WRITE_ONCE(site->call_site, call_site);
		if (site->call_site == call_site)
			return site;
	}
	return NULL;
}

/*
 * One allocation at call_site. The table is this CPU's, and interrupts are off, so plain stores are enough; readers use
 * READ_ONCE. Any context but NMI.
 */
void slab_stat_count(unsigned long call_site, size_t bytes_req, size_t bytes_alloc)
{
	struct slab_site *site;
	struct slab_cpu *c;
	unsigned long flags;

	raw_local_irq_save(flags);
	c = this_cpu_ptr(&slab_cpu);
	site = slab_site(c, call_site);
	if (likely(site)) {
		WRITE_ONCE(site->hits, site->hits + 1);
		WRITE_ONCE(site->bytes_req, site->bytes_req + bytes_req);
		WRITE_ONCE(site->bytes_alloc, site->bytes_alloc + bytes_alloc);
	} else {
		WRITE_ONCE(c->missed, c->missed + 1);
	}
	raw_local_irq_restore(flags);
}

/* ---- The file */

static unsigned slab_max_rows(int cpu)
{
	return SLAB_SITES * nr_cpu_ids;
}

/* A copy of this CPU's places that are taken. Returns how many. */
static unsigned copy_sites(const struct slab_cpu *c, struct slab_site *to)
{
	unsigned n = 0;

	for (unsigned i = 0; c->sites && i < SLAB_SITES; i++) {
		const struct slab_site *from = &c->sites[i];

		if (READ_ONCE(from->call_site))
			to[n++] = (struct slab_site){from->call_site, READ_ONCE(from->hits), READ_ONCE(from->bytes_req),
						     READ_ONCE(from->bytes_alloc)};
	}
	return n;
}

static int by_call_site(const void *a, const void *b)
{
	const struct slab_site *x = a, *y = b;

	return x->call_site < y->call_site ? -1 : x->call_site > y->call_site;
}

/* Add up the rows of one call site, which stand together. Returns how many are left. */
static unsigned merge_sites(struct slab_site *sites, unsigned n)
{
	unsigned to = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!to || sites[to - 1].call_site != sites[i].call_site) {
			sites[to++] = sites[i];
			continue;
		}
		sites[to - 1].hits += sites[i].hits;
		sites[to - 1].bytes_req += sites[i].bytes_req;
		sites[to - 1].bytes_alloc += sites[i].bytes_alloc;
	}
	return to;
}

/* The lock keeps the tables from being cleared between two CPUs. */
static unsigned slab_collect(int cpu, void *rows, unsigned max)
{
	unsigned n = 0, i;

	mutex_lock(&trace_types_lock);
	for_each_possible_cpu(i)
		n += copy_sites(per_cpu_ptr(&slab_cpu, i), (struct slab_site *)rows + n);
	mutex_unlock(&trace_types_lock);
	sort(rows, n, sizeof(struct slab_site), by_call_site);
	return merge_sites(rows, n);
}

static u64 wasted(const struct slab_site *site)
{
	return site->bytes_alloc - min(site->bytes_req, site->bytes_alloc);
}

/* The call site that loses most comes first; among those that lose nothing, the one that takes most. */
static int slab_cmp(const void *a, const void *b)
{
	const struct slab_site *x = a, *y = b;

	if (wasted(x) != wasted(y))
		return wasted(x) > wasted(y) ? -1 : 1;
	if (x->bytes_alloc != y->bytes_alloc)
		return x->bytes_alloc > y->bytes_alloc ? -1 : 1;
	return by_call_site(a, b);
}

static void slab_header(struct seq_file *m)
{
	u64 missed = 0;
	unsigned cpu;

	for_each_possible_cpu(cpu)
		missed += READ_ONCE(per_cpu(slab_cpu, cpu).missed);
	seq_printf(m, " %-34s | Total_alloc/Per | Total_req/Per   | Hit      | Frag\n", "Callsite");
	if (missed)
		seq_printf(m, "# not counted, there was no room: %llu\n", (unsigned long long)missed);
}

/* What was lost in thousandths of a per cent, as perf prints three decimal places. */
static void slab_show(struct seq_file *m, const void *v)
{
	const struct slab_site *site = v;
	u64 hits = max(site->hits, 1ULL), frag = site->bytes_alloc ? wasted(site) * 100000 / site->bytes_alloc : 0;
	char name[64];

	scnprintf(name, sizeof(name), "%pS", (void *)site->call_site);
	seq_printf(m, " %-34s | %9llu/%-5llu | %9llu/%-5llu | %8llu | %2llu.%03llu%%\n", name,
		   (unsigned long long)site->bytes_alloc, (unsigned long long)(site->bytes_alloc / hits),
		   (unsigned long long)site->bytes_req, (unsigned long long)(site->bytes_req / hits),
		   (unsigned long long)site->hits, (unsigned long long)(frag / 1000),
		   (unsigned long long)(frag % 1000));
}

static const struct trace_stat slab_stat = {
	.name = "slab",
	.row_size = sizeof(struct slab_site),
	.max_rows = slab_max_rows,
	.collect = slab_collect,
	.cmp = slab_cmp,
	.header = slab_header,
	.show = slab_show,
};
REGISTER_TRACE_STAT(slab_stat);
