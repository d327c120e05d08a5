/*
 * The function profiler: how often each function is called and how long it takes, in numbers and not in records. A user
 * of hooked returns (trace/fgraph.h); set_ftrace_filter and set_ftrace_notrace say which functions.
 *
 * Every CPU has a place for each site, found through an index that is replaced as a whole when a module comes: nothing
 * is allocated, inserted or locked while functions run. The code that counts has interrupts off; only an NMI can come
 * in between. It is turned away, and its call counts as missed.
 */
#include <fs/libfs.h>
#include <kernel/module.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <lib/hash.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <time/clock.h>

#include "core/recursion.h"
#include "ftrace/fgraph_inline.h"
#include "ftrace/fgraph_internal.h"
#include "ftrace/internal.h"
#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "tracers/graph/graph.h"
#include "profile.h"

/* Open addressing by the low half of a site's address, at least half of the places free. [immutable once published] */
struct profile_index {
	u32 mask;
	struct {
		u32 ip; /* 0: free; text is far less than 4 GiB long */
		u32 rec;
	} places[];
};

/*
 * The profiler's counts are written without a lock.
 *
 * A CPU's counts are written by that CPU only, with interrupts off, so only an NMI can come in between. It finds the
 * sequence number odd, counts itself as missed and does nothing more. An NMI that comes between our look at the number
 * and our raising it has raised it twice. So we raise it by an atomic addition: if we stored what we read plus one, a
 * reader could meet the same even number twice with other counts in between. A reader on another CPU copies a count
 * between two looks at the number, and copies again when the number has changed or was odd. Memory is never given back,
 * and is set to zero only while the profiler is no user (unregister_ftrace_graph has waited for all that counted).
 */
struct profile_cpu {
	struct profile_count *counts; /* [t] one a record */
	u32 seq;		      /* [this CPU, interrupts off] odd: a count is being written */
	u64 missed;		      /* [this CPU's NMIs] calls not counted, as an NMI found it busy */
};

static struct profile_index *profile_index; /* [t; RCU] NULL until first enabled */
static DEFINE_PER_CPU(struct profile_cpu, profile_cpu);
static bool profile_enabled; /* [t] */

/*
 * A consistent copy of a function's counts on one CPU: read again when the writer was at it meanwhile. False: the CPU
 * has none.
 */
bool profile_read(int cpu, unsigned rec, struct profile_count *count)
{
	struct profile_cpu *p = per_cpu_ptr(&profile_cpu, cpu);
	u32 seq;

	if (!p->counts)
		return false;
	do {
		seq = READ_ONCE(p->seq);
		smp_rmb();
		*count = p->counts[rec];
		smp_rmb();
	} while (seq & 1 || seq != READ_ONCE(p->seq));
	return true;
}

/* ---- Counting. Interrupts off (trace/ftrace/fgraph.c). */

/* Multiplicative hashing, as in graph/filter.c: sites are close to each other, and the product spreads them. */
static __always_inline u32 index_place(unsigned long ip)
{
	return hash_32(ip, 20);
}

/* The number of a site. Every site is in the index, so the search always ends. */
static __always_inline u32 index_find(const struct profile_index *index, unsigned long ip)
{
	u32 i = index_place(ip);

	while (index->places[i & index->mask].ip != (u32)ip)
		i++;
	return index->places[i & index->mask].rec;
}

/*
 * Begins to write a function's count; count_end() follows. NULL: this is an NMI on top of code that is writing one, and
 * the call is counted as missed.
 */
static __always_inline struct profile_count *count_begin(struct profile_cpu *here, unsigned long ip)
{
	if (unlikely(READ_ONCE(here->seq) & 1)) {
		here->missed++;
		return NULL;
	}
	/* An addition, because an NMI may have counted since the number was read: see struct profile_cpu. */
	__atomic_fetch_add(&here->seq, 1, __ATOMIC_RELAXED);
	smp_wmb();
	return &here->counts[index_find(profile_index, ip)];
}

/*
 * The write barriers here and in count_begin() pair with the read barriers of profile_read(): a reader that sees the
 * same even number twice has seen no half-written count.
 */
static __always_inline void count_end(struct profile_cpu *here)
{
	smp_wmb();
	WRITE_ONCE(here->seq, here->seq + 1);
}

/* fgraph_ops.entryfunc, the general way: count the call. True when its return is wanted for the time. */
static bool profile_entry(struct fgraph_ops *gops, const struct fgraph_call *call, struct fgraph_frame *frame)
{
	struct profile_cpu *here = this_cpu_ptr(&profile_cpu);
	struct profile_count *count = count_begin(here, call->ip);

	if (!count)
		return false;
	count->hits++;
	count_end(here);
	frame->inner = call->stack->inner;
	return true;
}

/* The sum of squares needs 128 bits: a call may take seconds, which are 10^9 ns and 10^18 squared. */
static __always_inline void add_time(struct profile_count *count, u64 ns)
{
	unsigned __int128 square = (unsigned __int128)ns * ns;

	count->returns++;
	count->time += ns;
	count->squares[1] +=
		(u64)(square >> 64) + __builtin_add_overflow(count->squares[0], (u64)square, &count->squares[0]);
}

/*
 * When a call returns, stack->inner is what it was at the call's begin plus the call's whole time. The difference that
 * the call finds at its end is the time of the calls inside it. So the caller's frame need not be searched for.
 */
static __always_inline void end_call(struct fgraph_stack *stack, const struct fgraph_frame *frame, u64 now)
{
	u64 total = now - frame->calltime, inner = stack->inner - frame->inner;
	struct profile_cpu *here = this_cpu_ptr(&profile_cpu);
	struct profile_count *count = count_begin(here, frame->func);

	stack->inner = frame->inner + total;
	if (unlikely(!count))
		return;
	add_time(count, trace_graph_time() ? total : total - min(inner, total));
	count_end(here);
}

/* fgraph_ops.retfunc, the general way. Interrupts off. */
static void profile_return(struct fgraph_ops *gops, const struct fgraph_call *call, const struct fgraph_frame *frame)
{
	end_call(call->stack, frame, call->time);
}

/* ---- Beside function_graph */

/* For function_graph's direct way, which has made the frame for both: count the call. Interrupts off. */
static void profile_enter(struct fgraph_stack *stack, struct fgraph_frame *frame)
{
	struct fgraph_state *state = &stack->user[FGRAPH_PROFILER];
	struct profile_cpu *here = this_cpu_ptr(&profile_cpu);
	struct profile_count *count = count_begin(here, frame->func);

	WRITE_ONCE(state->depth, state->depth + 1);
	frame->inner = stack->inner;
	if (unlikely(!count))
		return;
	count->hits++;
	count_end(here);
}

/* The counterpart of profile_enter(): function_graph pops the frame after this. */
static void profile_leave(struct fgraph_stack *stack, const struct fgraph_frame *frame, u64 now)
{
	struct fgraph_state *state = &stack->user[FGRAPH_PROFILER];

	end_call(stack, frame, now);
	WRITE_ONCE(state->depth, state->depth - 1);
}

static const struct graph_profiler profile_beside_graph = {profile_enter, profile_leave};

/*
 * ---- The same for the only user of hooked returns, in a task's context; what is not that goes the general way.
 * Interrupts stay off in place of preemption, as in function_graph's direct way.
 */

/* Nothing has been written yet, so the general way starts the call from its beginning. */
static noinline void leave_to_general(unsigned long ip, unsigned long parent_ip, struct ftrace_regs *fregs,
				      unsigned long flags)
{
	raw_local_irq_restore(flags);
	fgraph_enter(ip, parent_ip, NULL, fregs);
}

/* The entry while the profiler is the only user of returns: frame and count in one go, with interrupts off. */
static void profile_direct_enter(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				 struct ftrace_regs *fregs)
{
	struct task_struct *t = current;
	struct profile_count *count;
	struct fgraph_stack *stack;
	struct fgraph_state *state;
	struct fgraph_frame *frame;
	struct profile_cpu *here;
	unsigned long flags;
	u64 key;

	if (unlikely(!trace_is_usual(READ_ONCE(t->preempt_count)))) {
		fgraph_enter(ip, parent_ip, NULL, fregs);
		return;
	}
	raw_local_irq_save(flags);
	stack = t->ret_stack;
	if (unlikely(!stack))
		goto general;
	state = &stack->user[FGRAPH_PROFILER];
	key = READ_ONCE(stack->direct[FGRAPH_PROFILER].key); /* before room, as in graph_enter */
	if (unlikely(stack->top >= READ_ONCE(stack->direct[FGRAPH_PROFILER].room)))
		goto general;
	frame = fgraph_push(stack, ip, parent_ip, fregs);
	frame->key = key;
	WRITE_ONCE(state->depth, state->depth + 1);
	here = this_cpu_ptr(&profile_cpu);
	count = count_begin(here, ip);
	if (likely(count)) {
		count->hits++;
		count_end(here);
	}
	frame->inner = stack->inner;
	frame->calltime = sched_clock();
	fgraph_hook(fregs);
	raw_local_irq_restore(flags);
	return;
general:
	leave_to_general(ip, parent_ip, fregs, flags);
}

/*
 * The return while the profiler is the only user. A frame with another key was made by another way, or for a user that
 * has gone, and the general way handles it. Only a task with a shadow stack can return to the handler, so t->ret_stack
 * is never NULL.
 */
static void profile_direct_return(struct fgraph_ret_regs *regs)
{
	struct task_struct *t = current;
	struct fgraph_stack *stack;
	struct fgraph_state *state;
	struct fgraph_frame *frame;
	unsigned long flags;

	if (unlikely(!trace_is_usual(READ_ONCE(t->preempt_count)))) {
		fgraph_return(regs);
		return;
	}
	raw_local_irq_save(flags);
	stack = t->ret_stack;
	frame = stack->top - 1;
	state = &stack->user[FGRAPH_PROFILER];
	if (unlikely(frame->mark != fgraph_ret_mark(regs) || frame->key != stack->direct[FGRAPH_PROFILER].key)) {
		raw_local_irq_restore(flags);
		fgraph_return(regs);
		return;
	}
	WRITE_ONCE(regs->ret, frame->ret);
	end_call(stack, frame, sched_clock());
	WRITE_ONCE(state->depth, state->depth - 1);
	fgraph_pop(stack, frame);
	raw_local_irq_restore(flags);
}

/* ---- Memory: allocated when the profiler is first enabled, and kept */

/*
 * A hash table from addresses to records, twice as large as needed so that chains are short. Every site that can be
 * called is in it, also those of modules, so a module that comes needs a new index. NULL when out of memory.
 * [ftrace_lock]
 */
static struct profile_index *make_index(void)
{
	struct profile_index *index;
	u32 places = 16;
	unsigned rec;

	while (places < 2 * ftrace_nr_recs)
		places *= 2;
	index = kvzalloc(sizeof(*index) + places * sizeof(index->places[0]), GFP_KERNEL);
	if (!index)
		return NULL;
	index->mask = places - 1;
	for_each_ftrace_rec(rec) {
		u32 i = index_place(ftrace_recs[rec].ip);

		while (index->places[i & index->mask].ip)
			i++;
		index->places[i & index->mask].ip = (u32)ftrace_recs[rec].ip;
		index->places[i & index->mask].rec = rec;
	}
	return index;
}

/* [trace_types_lock] 0 or -ENOMEM. */
static int alloc_index(void)
{
	mutex_lock(&ftrace_lock);
	profile_index = make_index();
	mutex_unlock(&ftrace_lock);
	return profile_index ? 0 : -ENOMEM;
}

/*
 * Clear what another module has left in the places of this one's records. The module's sites have their records by now,
 * because ftrace's notifier stands before ours in the linker's table.
 */
static void clear_counts_of(const struct module *mod)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct profile_count *counts = per_cpu(profile_cpu, cpu).counts;

		for (unsigned i = 0; counts && i < mod->nr_sites; i++)
			counts[ftrace_rec_of(mod->sites[i])] = (struct profile_count){};
	}
}

/*
 * A module comes: a new index has its sites, too. Nothing of the module has run yet, so no call looks for them in the
 * old index. Calls search it with interrupts off, so it is free after a grace period. 0, or -ENOMEM, which refuses the
 * module.
 */
static int profile_module_coming(struct module *mod)
{
	struct profile_index *old = NULL, *new = NULL;
	int ret = 0;

	mutex_lock(&trace_types_lock);
	if (profile_index) {
		mutex_lock(&ftrace_lock);
		new = make_index();
		mutex_unlock(&ftrace_lock);
		ret = new ? 0 : -ENOMEM;
	}
	if (new) {
		clear_counts_of(mod);
		old = profile_index;
		smp_store_release(&profile_index, new);
		synchronize_rcu();
	}
	mutex_unlock(&trace_types_lock);
	kvfree(old);
	return ret;
}
static const struct module_notifier profile_notifier = {.coming = profile_module_coming};
REGISTER_MODULE_NOTIFIER(profile_notifier);

/*
 * Allocates what is missing and sets all counts to zero. The profiler is no user now, so no call is counted. CPUs that
 * have memory already keep it when there is none for the next one: it is used at the next attempt. 0 or -ENOMEM.
 */
static int prepare_counts(void)
{
	size_t size = ftrace_nr_recs * sizeof(struct profile_count);
	int cpu, ret = profile_index ? 0 : alloc_index();

	for_each_possible_cpu(cpu) {
		struct profile_cpu *p = per_cpu_ptr(&profile_cpu, cpu);

		if (!ret && !p->counts) {
			p->counts = kvzalloc(size, GFP_KERNEL);
			ret = p->counts ? 0 : -ENOMEM;
		}
	}
	for_each_possible_cpu(cpu) {
		if (ret)
			break;
		memset(per_cpu(profile_cpu, cpu).counts, 0, size);
		per_cpu(profile_cpu, cpu).missed = 0;
	}
	return ret;
}

/* ---- function_profile_enabled */

static struct ftrace_ops profile_ops = {.name = "function_profile"};
static struct fgraph_ops profile_fgraph = {
	.entryfunc = profile_entry,
	.retfunc = profile_return,
	.ops = &profile_ops,
	.bit = FGRAPH_PROFILER,
	.direct_enter = profile_direct_enter,
	.direct_return = profile_direct_return,
};

/* The profiler follows the sets of the top array's function tracer (sets_of). 0 or -errno, and then nothing is on. */
static int profile_start(void)
{
	int ret = prepare_counts() ?: trace_graph_profiled(&profile_beside_graph);

	if (ret)
		return ret;
	profile_ops.sets_of = global_trace.ops;
	ret = register_ftrace_graph(&profile_fgraph);
	if (ret)
		trace_graph_profiled(NULL);
	return ret;
}

/* [trace_types_lock] On or off. Going off waits until no call is counted any more; the numbers stay. */
static int profile_set(bool on)
{
	int ret = 0;

	if (on == profile_enabled)
		return 0;
	if (on) {
		ret = profile_start();
	} else {
		unregister_ftrace_graph(&profile_fgraph);
		trace_graph_profiled(NULL);
	}
	if (!ret)
		profile_enabled = on;
	return ret;
}

static int function_profile_enabled_show(struct seq_file *m, void *data)
{
	seq_printf(m, "%u\n", READ_ONCE(profile_enabled));
	return 0;
}

static int function_profile_enabled_store(char *text, void *data)
{
	unsigned long val;
	int ret = kstrtoul(text, 10, &val);

	if (ret)
		return ret;
	mutex_lock(&trace_types_lock);
	ret = profile_set(val != 0);
	mutex_unlock(&trace_types_lock);
	return ret;
}
TRACEFS_NUMBER_FILE(function_profile_enabled, "function_profile_enabled", 0640, TRACEFS_TOP,
		    function_profile_enabled_show, function_profile_enabled_store);
TRACEFS_TAKES(function_profile_enabled, "function_profile_enabled", "a number: 0 ends counting, any other begins it");

/* debugfs's fgraph/profile */
static int missed_show(struct seq_file *m, void *v)
{
	int cpu;

	for_each_possible_cpu(cpu)
		seq_printf(m, "cpu%d missed: %llu\n", cpu,
			   (unsigned long long)READ_ONCE(per_cpu(profile_cpu, cpu).missed));
	return 0;
}

static const struct text_file missed_file = {.path = "fgraph/profile", .mode = 0400, .show = missed_show};
REGISTER_DEBUGFS(missed_file);
