/*
 * kretprobes: a handler is called when a function returns (<trace/kprobes.h>). All of them are one user of the hooked
 * returns (<trace/fgraph.h>), with the probed functions as its filter.
 *
 * INSTANCES. A call that a probe sees takes one of its instances, and gives it back at its return. An instance is found
 * again by the address of the call's frame on the shadow stack, which belongs to no other call meanwhile. It is taken
 * by a compare-and-exchange, since calls come from all CPUs and in any context. A frame that goes without a return,
 * since its task ends, leaves its instance taken: probes_forget_task() gives it back.
 *
 * ARGUMENTS. Where gcc's hook comes behind the prologue (FTRACE_REGS_ARGS is 0), the arguments are gone at the call
 * site. There a probe with an entry_handler has a kprobe at the function's first instruction, too. It takes the
 * instance, for the stack pointer of that moment in place of a frame, and calls the handler; a few instructions later
 * the call site finds the instance and gives it to the frame (adopt_slot). What interrupts in between is on the stack
 * of interrupts, or begins and ends with smaller stack pointers. So the call's own instance is the lowest one above the
 * frame on the same stack, and one that is left of a call whose site was not told is found by the next call, which has
 * the same stack pointer or a larger one.
 *
 * A call that finds no instance, or no room on its shadow stack, is counted in nmissed.
 *
 * WHAT IS FREED WHEN. Calls and returns run with preemption off from before they look for the probes of a function, so
 * a probe that has left its list is not used a grace period later.
 */
#include <asm/ptrace.h>
#include <irq/irqflags.h>
#include <kernel/ksyms.h>
#include <kernel/module.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <trace/fgraph.h>

#include "internal.h"

DEFINE_MUTEX(kretprobe_mutex);

/* An instance, and whose it is. Behind it the probe's data. */
struct ret_slot {
	const struct fgraph_frame *frame; /* [a] NULL: free */
	struct kretprobe_instance instance;
};
struct kretprobe_pool {
	unsigned nr;
	size_t size; /* of a slot with its data */
	char slots[] __aligned(8);
};

#define RET_BUCKETS 64u
static struct kretprobe *ret_probes[RET_BUCKETS]; /* [kretprobe_mutex; read with preemption off] those that are on */
static struct kretprobe *all_probes;		  /* [kretprobe_mutex] that are registered */
static unsigned nr_on;				  /* [kretprobe_mutex] */

static struct kretprobe **bucket_of(unsigned long site)
{
	return &ret_probes[(site >> 2 ^ site >> 9) % RET_BUCKETS];
}

#define for_each_ret_probe(rp, ip)                                                               \
	for ((rp) = smp_load_acquire(bucket_of(ip)); (rp); (rp) = smp_load_acquire(&(rp)->next)) \
		if ((rp)->site == (ip))

static struct ret_slot *slot_of(const struct kretprobe_pool *pool, unsigned i)
{
	return (struct ret_slot *)((char *)pool->slots + i * pool->size);
}

/* Where the search for a frame's slot begins: neighbours on a stack, and stacks, begin at different places. */
static unsigned begin_of(const struct kretprobe_pool *pool, const struct fgraph_frame *frame)
{
	unsigned long at = (unsigned long)frame;

	return (at / sizeof(*frame) + at / FGRAPH_STACK_SIZE * 7) % pool->nr;
}

/* A free one, which now belongs to the frame. NULL: all are taken. */
static struct ret_slot *take_slot(const struct kretprobe_pool *pool, const struct fgraph_frame *frame)
{
	unsigned at = begin_of(pool, frame);

	for (unsigned i = 0; i < pool->nr; i++) {
		struct ret_slot *slot = slot_of(pool, at);
		const struct fgraph_frame *none = NULL;

		/* The frame's own: it went without a return. */
		if (READ_ONCE(slot->frame) == frame ||
		    (!READ_ONCE(slot->frame) && __atomic_compare_exchange_n(&slot->frame, &none, frame, false,
									    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)))
			return slot;
		at = at + 1 == pool->nr ? 0 : at + 1;
	}
	return NULL;
}

static struct ret_slot *find_slot(const struct kretprobe_pool *pool, const struct fgraph_frame *frame)
{
	unsigned at = begin_of(pool, frame);

	for (unsigned i = 0; i < pool->nr; i++) {
		struct ret_slot *slot = slot_of(pool, at);

		if (READ_ONCE(slot->frame) == frame)
			return slot;
		at = at + 1 == pool->nr ? 0 : at + 1;
	}
	return NULL;
}

/* A slot has no task for a moment: it is taken, and its task is not yet written to it. */
static void free_slot(struct ret_slot *slot)
{
	WRITE_ONCE(slot->instance.task, NULL);
	smp_store_release(&slot->frame, NULL);
}

/* ---- Instances that wait for their frame, with a stack pointer and a bit that no address of a frame has */

#define ENTRY_BY_KPROBE (!FTRACE_REGS_ARGS)

/* The stack pointer of such an instance of this task; 0: it is another one. */
static unsigned long waits_at(const struct ret_slot *slot)
{
	unsigned long frame = (unsigned long)READ_ONCE(slot->frame);

	return (frame & 1) && READ_ONCE(slot->instance.task) == current ? frame & ~1UL : 0;
}

/* Are both on the task's stack, or both on the one of interrupts? Addresses of two stacks are in no order. */
static bool same_stack(unsigned long a, unsigned long b)
{
	unsigned long stack = (unsigned long)current->stack;

	return (a - stack < THREAD_SIZE) == (b - stack < THREAD_SIZE);
}

/* What calls have left that were as deep on the stack as this one, or deeper. */
static void drop_left(const struct kretprobe_pool *pool, unsigned long sp)
{
	for (unsigned i = 0; i < pool->nr; i++) {
		unsigned long at = waits_at(slot_of(pool, i));

		if (at && at <= sp && same_stack(at, sp))
			free_slot(slot_of(pool, i));
	}
}

/* The instance that the call has taken at its first instruction is the frame's now. NULL: it has none. */
static struct ret_slot *adopt_slot(const struct kretprobe_pool *pool, const struct fgraph_frame *frame)
{
	struct ret_slot *best = NULL;

	for (unsigned i = 0; i < pool->nr; i++) {
		struct ret_slot *slot = slot_of(pool, i);
		unsigned long at = waits_at(slot);

		if (at > frame->slot && same_stack(at, frame->slot) && (!best || at < waits_at(best)))
			best = slot;
		if (READ_ONCE(slot->frame) == frame)
			free_slot(slot); /* it went without a return */
	}
	if (best)
		WRITE_ONCE(best->frame, frame);
	return best;
}

/* ---- Calls and returns: interrupts off */

static void miss(struct kretprobe *rp)
{
	__atomic_fetch_add(&rp->nmissed, 1, __ATOMIC_RELAXED);
}

/* The arguments, as far as the machine has them at its site. */
static noinline bool call_entry_handler(struct kretprobe *rp, struct kretprobe_instance *ri,
					const struct fgraph_call *call)
{
	struct pt_regs regs = {};

	arch_kretprobe_regs(&regs, call->fregs, (unsigned long)rp->kp.addr);
	return !rp->entry_handler(ri, &regs);
}

/* At the first instruction, preemption off; only where arguments are not to be had at the call site. */
static int entry_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(kp, struct kretprobe, at_entry);
	unsigned long sp = kernel_stack_pointer(regs), flags;
	struct ret_slot *slot;

	raw_local_irq_save(flags); /* an interrupt must not see an instance without its task */
	drop_left(rp->pool, sp);
	slot = take_slot(rp->pool, (const void *)(sp | 1));
	if (slot) {
		slot->instance.rp = rp;
		slot->instance.task = current;
		if (rp->entry_handler(&slot->instance, regs))
			free_slot(slot);
	} else {
		miss(rp);
	}
	raw_local_irq_restore(flags);
	return 0;
}

/* The call's instance, if it is to be told of its return. */
static struct ret_slot *begin_call(struct kretprobe *rp, const struct fgraph_call *call, struct fgraph_frame *frame)
{
	struct ret_slot *slot;

	if (ENTRY_BY_KPROBE && rp->entry_handler)
		return adopt_slot(rp->pool, frame);
	slot = take_slot(rp->pool, frame);
	if (!slot) {
		miss(rp);
		return NULL;
	}
	slot->instance.rp = rp;
	slot->instance.task = current;
	slot->instance.fp = (void *)frame->slot;
	slot->instance.ret_addr = (kprobe_opcode_t *)frame->ret;
	if (!rp->entry_handler || call_entry_handler(rp, &slot->instance, call))
		return slot;
	free_slot(slot);
	return NULL;
}

static bool ret_entry(struct fgraph_ops *gops, const struct fgraph_call *call, struct fgraph_frame *frame)
{
	struct kretprobe *rp;
	bool any = false;

	for_each_ret_probe(rp, call->ip)
		any |= begin_call(rp, call, frame) != NULL;
	return any;
}

/* The true return address is not in the frame when the function was reached by a jump from another hooked one. */
static void ret_return(struct fgraph_ops *gops, const struct fgraph_call *call, const struct fgraph_frame *frame)
{
	unsigned long ret = frame->ret != RETURN_TO_HANDLER_ADDR ? frame->ret : fgraph_innermost_ret();
	struct pt_regs regs = {};
	struct kretprobe *rp;

	arch_kretprobe_return_regs(&regs, frame->slot, ret, call->fp, call->result);
	for_each_ret_probe(rp, call->ip) {
		struct ret_slot *slot = find_slot(rp->pool, frame);

		if (!slot)
			continue;
		slot->instance.ret_addr = (kprobe_opcode_t *)ret;
		slot->instance.fp = (void *)frame->slot;
		if (rp->handler)
			rp->handler(&slot->instance, &regs);
		free_slot(slot);
	}
}

static void ret_missed(struct fgraph_ops *gops, unsigned long ip)
{
	struct kretprobe *rp;

	for_each_ret_probe(rp, ip)
		miss(rp);
}

static struct ftrace_ops ret_sites = {.name = "kretprobe"};
static struct fgraph_ops ret_user = {
	.entryfunc = ret_entry,
	.retfunc = ret_return,
	.missed = ret_missed,
	.ops = &ret_sites,
	.bit = FGRAPH_ANY,
};

void probes_forget_task(const struct task_struct *task)
{
	if (task->ret_stack)
		fprobe_forget_stack(task->ret_stack);
	preempt_disable();
	for (unsigned i = 0; i < RET_BUCKETS; i++)
		for (struct kretprobe *rp = smp_load_acquire(&ret_probes[i]); rp; rp = smp_load_acquire(&rp->next))
			for (unsigned n = 0; n < rp->pool->nr; n++) {
				struct ret_slot *slot = slot_of(rp->pool, n);

				if (READ_ONCE(slot->frame) && slot->instance.task == task)
					free_slot(slot);
			}
	preempt_enable();
}

/* ---- On and off: kretprobe_mutex held */

/* Is another probe that is on at the same function? */
static bool shared(const struct kretprobe *rp)
{
	const struct kretprobe *other;

	for_each_ret_probe(other, rp->site)
		if (other != rp)
			return true;
	return false;
}

static void unlink_probe(struct kretprobe *rp)
{
	struct kretprobe **at = bucket_of(rp->site);

	while (*at != rp)
		at = &(*at)->next;
	smp_store_release(at, rp->next);
}

/* It is told of no call from here on. Those under way are forgotten: their instances are free for when it is back. */
static void leave_site(struct kretprobe *rp)
{
	if (!--nr_on)
		unregister_ftrace_graph(&ret_user);
	unlink_probe(rp);
	if (!shared(rp))
		ftrace_set_filter_ip(&ret_sites, rp->site, 1, 0);
	synchronize_rcu();
	for (unsigned i = 0; i < rp->pool->nr; i++)
		free_slot(slot_of(rp->pool, i));
}

/* An empty filter would mean all functions, so the user comes behind its first site and goes before its last one. */
static int turn_on(struct kretprobe *rp)
{
	int err = shared(rp) ? 0 : ftrace_set_filter_ip(&ret_sites, rp->site, 0, 0);

	if (err)
		return err;
	rp->next = *bucket_of(rp->site);
	smp_store_release(bucket_of(rp->site), rp);
	WRITE_ONCE(fgraph_task_goes, probes_forget_task);
	if (!nr_on++)
		err = register_ftrace_graph(&ret_user);
	if (!err && rp->at_entry.addr)
		err = enable_kprobe(&rp->at_entry);
	if (err)
		leave_site(rp);
	return err;
}

static void turn_off(struct kretprobe *rp)
{
	if (rp->at_entry.addr)
		disable_kprobe(&rp->at_entry);
	leave_site(rp);
}

static bool is_on(const struct kretprobe *rp)
{
	return !(rp->kp.flags & (KPROBE_FLAG_DISABLED | KPROBE_FLAG_GONE));
}

/* ---- Registration */

/* 0, and the site of the function; errors as register_kretprobe(). */
static int find_site(struct kretprobe *rp)
{
	unsigned long addr, site;
	int err = kprobe_find_address(&rp->kp, &addr);

	if (err)
		return err;
	site = ftrace_location(addr);
	if (!site)
		return -EINVAL;
	rp->kp.addr = (kprobe_opcode_t *)addr;
	rp->site = site;
	return 0;
}

static struct kretprobe_pool *make_pool(const struct kretprobe *rp)
{
	unsigned nr = rp->maxactive > 0 ? rp->maxactive : max(10u, 2 * nr_cpu_ids);
	size_t size = ALIGN(sizeof(struct ret_slot) + rp->data_size, 8);
	struct kretprobe_pool *pool = kvzalloc(sizeof(*pool) + nr * size, GFP_KERNEL);

	if (pool) {
		pool->nr = nr;
		pool->size = size;
	}
	return pool;
}

/* The pool, and the kprobe where one is needed. 0 or -errno, and neither is there. */
static int prepare(struct kretprobe *rp)
{
	int err = 0;

	rp->nmissed = 0;
	rp->pool = make_pool(rp);
	if (!rp->pool)
		return -ENOMEM;
	rp->at_entry = (struct kprobe){};
	if (ENTRY_BY_KPROBE && rp->entry_handler) {
		rp->at_entry =
			(struct kprobe){.addr = rp->kp.addr, .pre_handler = entry_hit, .flags = KPROBE_FLAG_DISABLED};
		err = register_kprobe(&rp->at_entry);
	}
	if (err) {
		kvfree(rp->pool);
		rp->pool = NULL;
	}
	return err;
}

static void unprepare(struct kretprobe *rp)
{
	if (rp->at_entry.addr)
		unregister_kprobe(&rp->at_entry);
	kvfree(rp->pool);
	rp->pool = NULL;
}

/* The module of the function is held meanwhile; later it may go, and takes the probe along (module_goes). */
int register_kretprobe(struct kretprobe *rp)
{
	struct module *mod;
	int err;

	if (rp->pool || rp->maxactive > KRETPROBE_MAXACTIVE_MAX)
		return -EINVAL;
	if (rp->data_size > KRETPROBE_MAX_DATA_SIZE)
		return -E2BIG;
	rp->kp.flags &= KPROBE_FLAG_DISABLED; /* its module may have taken it along before */
	err = find_site(rp) ?: kprobe_hold_module((unsigned long)rp->kp.addr, &mod);
	if (err)
		return err;
	mutex_lock(&kretprobe_mutex);
	err = prepare(rp);
	if (!err && is_on(rp)) {
		err = turn_on(rp);
		if (err)
			unprepare(rp);
	}
	if (!err) {
		rp->next_registered = all_probes;
		all_probes = rp;
	}
	mutex_unlock(&kretprobe_mutex);
	if (mod)
		module_put(mod);
	return err;
}
EXPORT_SYMBOL_GPL(register_kretprobe);

void unregister_kretprobe(struct kretprobe *rp)
{
	mutex_lock(&kretprobe_mutex);
	if (rp->pool) {
		struct kretprobe **at = &all_probes;

		while (*at != rp)
			at = &(*at)->next_registered;
		*at = rp->next_registered;
		if (is_on(rp))
			turn_off(rp);
		unprepare(rp);
	}
	mutex_unlock(&kretprobe_mutex);
}
EXPORT_SYMBOL_GPL(unregister_kretprobe);

int register_kretprobes(struct kretprobe **rps, int num)
{
	if (num <= 0)
		return -EINVAL;
	for (int i = 0; i < num; i++) {
		int err = register_kretprobe(rps[i]);

		if (err) {
			unregister_kretprobes(rps, i);
			return err;
		}
	}
	return 0;
}
EXPORT_SYMBOL_GPL(register_kretprobes);

void unregister_kretprobes(struct kretprobe **rps, int num)
{
	for (int i = 0; i < num; i++)
		unregister_kretprobe(rps[i]);
}
EXPORT_SYMBOL_GPL(unregister_kretprobes);

static int set_on(struct kretprobe *rp, bool on)
{
	int err = -EINVAL;

	mutex_lock(&kretprobe_mutex);
	if (rp->pool && !(rp->kp.flags & KPROBE_FLAG_GONE)) {
		err = on && !is_on(rp) ? turn_on(rp) : 0;
		if (!on && is_on(rp))
			turn_off(rp);
		if (!err)
			rp->kp.flags = on ? 0 : KPROBE_FLAG_DISABLED;
	}
	mutex_unlock(&kretprobe_mutex);
	return err;
}

int disable_kretprobe(struct kretprobe *rp)
{
	return set_on(rp, false);
}
EXPORT_SYMBOL_GPL(disable_kretprobe);

int enable_kretprobe(struct kretprobe *rp)
{
	return set_on(rp, true);
}
EXPORT_SYMBOL_GPL(enable_kretprobe);

void kretprobes_show(struct seq_file *m, void (*show)(struct seq_file *m, const struct kprobe *kp))
{
	mutex_lock(&kretprobe_mutex);
	for (const struct kretprobe *rp = all_probes; rp; rp = rp->next_registered)
		if (!(rp->kp.flags & KPROBE_FLAG_GONE))
			show(m, &rp->kp);
	mutex_unlock(&kretprobe_mutex);
}

/* A module's text goes, and the probes of its functions with it. Its sites leave after this. */
static void module_goes(struct module *mod)
{
	const struct module_memory *text = &mod->memory[MODULE_TEXT];

	mutex_lock(&kretprobe_mutex);
	for (struct kretprobe *rp = all_probes; rp; rp = rp->next_registered) {
		if (rp->kp.flags & KPROBE_FLAG_GONE || rp->site - text->base >= text->size)
			continue;
		if (is_on(rp))
			turn_off(rp);
		rp->kp.flags |= KPROBE_FLAG_GONE;
	}
	mutex_unlock(&kretprobe_mutex);
}

static const struct module_notifier kretprobe_notifier = {.going = module_goes};
REGISTER_MODULE_NOTIFIER(kretprobe_notifier);
