/*
 * fprobes: handlers at the entry and the return of the functions of a pattern (<trace/fprobe.h>).
 *
 * DATA OF A CALL. An fprobe whose calls have data, or whose calls are limited in number, has a pool of places. A call
 * takes one by a compare-and-exchange, since calls come from all CPUs and in any context, and the place is found again
 * by the address of the call's frame on its shadow stack, which is no other call's meanwhile. A task that ends within a
 * call leaves its place taken; fprobe_forget_stack() gives it back.
 *
 * WHAT IS FREED WHEN. Handlers run with preemption off from before they look at the pool; unregistering waits for them.
 */
#include <arch/regs.h>
#include <asm/ptrace.h>
#include <kernel/ksyms.h>
#include <kernel/module.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <trace/fprobe.h>

#include "internal.h"

#define FPROBE_DATA_MAX 4096u

static DEFINE_MUTEX(fprobe_mutex); /* the list of those with a pool; inside it: nothing */
static struct fprobe *with_pool;   /* [fprobe_mutex; read with preemption off] */

/* A place, and whose it is. Behind it the call's data. */
struct fprobe_place {
	const struct fgraph_frame *frame; /* [a] NULL: free */
	char data[] __aligned(8);
};
struct fprobe_pool {
	unsigned nr;
	size_t size; /* of a place with its data */
	char places[] __aligned(8);
};

static struct fprobe_place *place_at(struct fprobe_pool *pool, unsigned i)
{
	return (struct fprobe_place *)(pool->places + i * pool->size);
}

/* The search for a frame's place begins where its address says, so that it mostly ends there. */
static unsigned first_place(const struct fprobe_pool *pool, const struct fgraph_frame *frame)
{
	unsigned long at = (unsigned long)frame;

	return (at / sizeof(*frame) + at / FGRAPH_STACK_SIZE * 7) % pool->nr;
}

/* A free place, which is the frame's now, or the one that is its already. NULL: all are taken. Any context. */
static struct fprobe_place *take_place(struct fprobe_pool *pool, const struct fgraph_frame *frame)
{
	unsigned first = first_place(pool, frame);

	for (unsigned i = 0; i < pool->nr; i++) {
		struct fprobe_place *place = place_at(pool, (first + i) % pool->nr);
		const struct fgraph_frame *none = NULL;

		if (READ_ONCE(place->frame) == frame ||
		    __atomic_compare_exchange_n(&place->frame, &none, frame, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return place;
	}
	return NULL;
}

static struct fprobe_place *find_place(struct fprobe_pool *pool, const struct fgraph_frame *frame)
{
	unsigned first = first_place(pool, frame);

	for (unsigned i = 0; i < pool->nr; i++) {
		struct fprobe_place *place = place_at(pool, (first + i) % pool->nr);

		if (READ_ONCE(place->frame) == frame)
			return place;
	}
	return NULL;
}

static void free_place(struct fprobe_place *place)
{
	if (place)
		smp_store_release(&place->frame, NULL);
}

void fprobe_forget_stack(const struct fgraph_stack *stack)
{
	preempt_disable();
	for (struct fprobe *fp = smp_load_acquire(&with_pool); fp; fp = smp_load_acquire(&fp->next))
		for (unsigned i = 0; i < fp->pool->nr; i++) {
			struct fprobe_place *place = place_at(fp->pool, i);

			if ((unsigned long)READ_ONCE(place->frame) - (unsigned long)stack < FGRAPH_STACK_SIZE)
				free_place(place);
		}
	preempt_enable();
}

/* ---- Calls and returns */

static void miss(struct fprobe *fp)
{
	__atomic_fetch_add(&fp->nmissed, 1, __ATOMIC_RELAXED);
}

/* Is the return not wanted? `data` NULL: the call has none. */
static bool call_entry_handler(struct fprobe *fp, unsigned long ip, unsigned long ret, struct ftrace_regs *fregs,
			       void *data)
{
	struct pt_regs regs = {};

	if (!fp->entry_handler)
		return false;
	arch_kretprobe_regs(&regs, fregs, ip);
	return fp->entry_handler(fp, ip, ret, &regs, data);
}

/* Of an fprobe that hears of entries alone. A handler that comes to a function of an fprobe is not called again. */
static void fprobe_function(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
	struct fprobe *fp = container_of(ops, struct fprobe, ops);
	int bit;

	if (fprobe_disabled(fp))
		return;
	bit = ftrace_test_recursion_trylock(ip, parent_ip);
	if (bit < 0) {
		miss(fp);
		return;
	}
	call_entry_handler(fp, ip, parent_ip, fregs, NULL);
	ftrace_test_recursion_unlock(bit);
}

/* Interrupts off, as in the next one. Without a place neither the entry nor the return is told. */
static bool fprobe_entry(struct fgraph_ops *gops, const struct fgraph_call *call, struct fgraph_frame *frame)
{
	struct fprobe *fp = container_of(gops, struct fprobe, gops);
	struct fprobe_place *place = NULL;

	if (fprobe_disabled(fp))
		return false;
	if (fp->pool) {
		place = take_place(fp->pool, frame);
		if (!place) {
			miss(fp);
			return false;
		}
	}
	if (!call_entry_handler(fp, call->ip, frame->ret, call->fregs, fp->entry_data_size ? place->data : NULL))
		return true;
	free_place(place);
	return false;
}

/* A call that began while the fprobe was on is told of its return, unless it has been disabled meanwhile. */
static void fprobe_return(struct fgraph_ops *gops, const struct fgraph_call *call, const struct fgraph_frame *frame)
{
	struct fprobe *fp = container_of(gops, struct fprobe, gops);
	struct fprobe_place *place = fp->pool ? find_place(fp->pool, frame) : NULL;
	unsigned long ret = frame->ret != RETURN_TO_HANDLER_ADDR ? frame->ret : fgraph_innermost_ret();
	struct pt_regs regs = {};

	if (!fprobe_disabled(fp) && (place || !fp->pool)) {
		arch_kretprobe_return_regs(&regs, frame->slot, ret, call->fp, call->result);
		fp->exit_handler(fp, call->ip, ret, &regs, fp->entry_data_size ? place->data : NULL);
	}
	free_place(place);
}

static void fprobe_missed(struct fgraph_ops *gops, unsigned long ip)
{
	struct fprobe *fp = container_of(gops, struct fprobe, gops);

	if (!fprobe_disabled(fp))
		miss(fp);
}

/* ---- Registration */

/* Before its functions are chosen. 0, -EBUSY, -EINVAL. */
static int fprobe_prepare(struct fprobe *fp)
{
	if (fprobe_is_registered(fp))
		return -EBUSY;
	if ((!fp->entry_handler && !fp->exit_handler) || fp->entry_data_size > FPROBE_DATA_MAX ||
	    fp->nr_maxactive < 0 || fp->nr_maxactive > (int)FPROBE_MAXACTIVE_MAX)
		return -EINVAL;
	fp->nmissed = 0;
	fp->pool = NULL;
	fp->ops = (struct ftrace_ops){
		.func = fp->exit_handler ? NULL : fprobe_function, .flags = FTRACE_OPS_FL_RECURSION, .name = "fprobe"};
	if (fp->exit_handler)
		fp->ops.flags = 0;
	fp->gops = (struct fgraph_ops){.entryfunc = fprobe_entry,
				       .retfunc = fprobe_return,
				       .missed = fprobe_missed,
				       .ops = &fp->ops,
				       .bit = FGRAPH_ANY};
	return 0;
}

/* The places of calls, if they need any. 0 or -ENOMEM. */
static int make_pool(struct fprobe *fp)
{
	unsigned nr = fp->nr_maxactive ?: min(fp->ops.filter.count * 2 * nr_cpu_ids, FPROBE_MAXACTIVE_MAX);
	size_t size = ALIGN(sizeof(struct fprobe_place) + fp->entry_data_size, 8);

	if (!fp->exit_handler || (!fp->entry_data_size && !fp->nr_maxactive))
		return 0;
	fp->pool = kvzalloc(sizeof(*fp->pool) + nr * size, GFP_KERNEL);
	if (!fp->pool)
		return -ENOMEM;
	fp->pool->nr = nr;
	fp->pool->size = size;
	mutex_lock(&fprobe_mutex);
	fp->next = with_pool;
	smp_store_release(&with_pool, fp);
	mutex_unlock(&fprobe_mutex);
	WRITE_ONCE(fgraph_task_goes, probes_forget_task);
	return 0;
}

/* No handler runs any more. */
static void free_pool(struct fprobe *fp)
{
	if (!fp->pool)
		return;
	mutex_lock(&fprobe_mutex);
	for (struct fprobe **at = &with_pool; *at; at = &(*at)->next)
		if (*at == fp) {
			smp_store_release(at, fp->next);
			break;
		}
	mutex_unlock(&fprobe_mutex);
	synchronize_rcu(); /* fprobe_forget_stack() looks at the list */
	kvfree(fp->pool);
	fp->pool = NULL;
}

/* Its functions are chosen, unless `err` says that they could not be. */
static int fprobe_start(struct fprobe *fp, int err)
{
	if (!err)
		err = make_pool(fp);
	if (!err)
		err = fp->exit_handler ? register_ftrace_graph(&fp->gops) : register_ftrace_function(&fp->ops);
	if (!err)
		return 0;
	free_pool(fp);
	ftrace_free_filter(&fp->ops);
	return err;
}

int register_fprobe(struct fprobe *fp, const char *filter, const char *notfilter)
{
	int err = filter && *filter ? fprobe_prepare(fp) : -EINVAL;

	if (err)
		return err;
	err = ftrace_set_filter(&fp->ops, (unsigned char *)filter, strlen(filter), 0);
	if (!err && notfilter)
		err = ftrace_set_notrace(&fp->ops, (unsigned char *)notfilter, strlen(notfilter), 0);
	return fprobe_start(fp, err);
}
EXPORT_SYMBOL_GPL(register_fprobe);

int register_fprobe_ips(struct fprobe *fp, unsigned long *addrs, int num)
{
	int err = num > 0 ? fprobe_prepare(fp) : -EINVAL;

	if (err)
		return err;
	for (int i = 0; i < num && !err; i++)
		err = ftrace_set_filter_ip(&fp->ops, addrs[i], 0, 0);
	return fprobe_start(fp, err);
}
EXPORT_SYMBOL_GPL(register_fprobe_ips);

int register_fprobe_syms(struct fprobe *fp, const char **syms, int num)
{
	int err = num > 0 ? fprobe_prepare(fp) : -EINVAL;

	if (err)
		return err;
	for (int i = 0; i < num && !err; i++) {
		unsigned long addr = kallsyms_lookup_name(syms[i]);

		err = addr ? ftrace_set_filter_ip(&fp->ops, addr, 0, 0) : -ENOENT;
	}
	return fprobe_start(fp, err);
}
EXPORT_SYMBOL_GPL(register_fprobe_syms);

int unregister_fprobe(struct fprobe *fp)
{
	int err = !fprobe_is_registered(fp) ? -EINVAL
		  : fp->exit_handler	    ? unregister_ftrace_graph(&fp->gops)
					    : unregister_ftrace_function(&fp->ops);

	if (err)
		return err;
	free_pool(fp);
	ftrace_free_filter(&fp->ops);
	return 0;
}
EXPORT_SYMBOL_GPL(unregister_fprobe);
