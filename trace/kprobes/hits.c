/*
 * A hit of a kprobe: from the text that leads here to the handlers, and on.
 *
 * WHY NO LOCK. Sites, their lists and the text change together, in one stop of the machine. A hit has preemption off,
 * or interrupts, from before it looks for its site until the handlers have returned, and no CPU is parked in between.
 * So a hit finds the list as it was when the text was written that led to it, and when a probe has been taken out, no
 * handler of it is running. A task that was preempted in a slot before it came to kprobe_jumped() finds there what its
 * slot belongs to by then.
 *
 * RECURSION. kprobe_running says that this CPU is in a handler. A hit there is counted as missed, and the instruction
 * is executed without calling anybody. What runs before kprobe_running is looked at may not be probed: it would be hit
 * for ever. It stands in .kprobes.text or in the entry code.
 */
#include <arch/ftrace.h>
#include <arch/patch.h>
#include <kernel/percpu.h>
#include <kernel/probe_hooks.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/uaccess.h>
#include <sched/preempt.h>
#include <trace/ftrace.h>

#include "core/recursion.h"
#include "ftrace/internal.h"
#include "internal.h"

struct kprobe_site *kprobe_sites[KPROBE_BUCKETS];
static DEFINE_PER_CPU(struct kprobe_site *, kprobe_running); /* [its CPU, preemption off] NULL: no handler runs */

static __kprobes void count_missed(struct kprobe_site *site)
{
	struct kprobe *p;

	list_for_each_entry(p, &site->probes, list)
		if (kprobe_is_enabled(p))
			__atomic_fetch_add(&p->nmissed, 1, __ATOMIC_RELAXED);
}

static noinline __kprobes int call_each_before(struct kprobe_site *site, struct pt_regs *regs)
{
	struct kprobe *p;

	list_for_each_entry(p, &site->probes, list)
		if (kprobe_is_enabled(p) && p->pre_handler && p->pre_handler(p, regs))
			return 1;
	return 0;
}

/* The pre_handlers. Nonzero: one of them has said where to go on. Preemption off. Most sites have one probe. */
static __always_inline int call_before(struct kprobe_site *site, struct pt_regs *regs)
{
	struct kprobe *p = site->single;

	return likely(p) ? p->pre_handler(p, regs) : call_each_before(site, regs);
}

static int call_after(struct kprobe_site *site, struct pt_regs *regs)
{
	struct kprobe *p;

	list_for_each_entry(p, &site->probes, list)
		if (kprobe_is_enabled(p) && p->post_handler)
			p->post_handler(p, regs, 0);
	return 0;
}

/* Preemption off. What `call` returns; 0: a handler is running on this CPU. A hit that is missed is counted once. */
static __always_inline int tell(struct kprobe_site *site, struct pt_regs *regs,
				int (*call)(struct kprobe_site *site, struct pt_regs *regs))
{
	int ret;

	if (unlikely(this_cpu(kprobe_running))) {
		if (call != call_after)
			count_missed(site);
		return 0;
	}
	this_cpu(kprobe_running) = site;
	barrier();
	ret = call(site, regs);
	barrier();
	this_cpu(kprobe_running) = NULL;
	return ret;
}

/* The exception has interrupts off, so the count is for what handlers find: they may not sleep. */
static __kprobes bool kprobe_breakpoint(unsigned long addr, struct pt_regs *regs)
{
	struct kprobe_site *site = kprobe_find_site(addr);
	int elsewhere;

	if (!site || site->how != KPROBE_BY_BREAK)
		return false;
	instruction_pointer_set(regs, addr);
	__preempt_count_add(PREEMPT_OFFSET);
	elsewhere = tell(site, regs, call_before);
	__preempt_count_sub(PREEMPT_OFFSET);
	if (!elsewhere)
		instruction_pointer_set(regs, site->code);
	return true;
}

/* From a slot: the place is a jump. `owner`: of the slot's struct kprobe_slot. Any context. */
void kprobe_jumped(struct kprobe_site **owner, struct pt_regs *regs);
__kprobes void kprobe_jumped(struct kprobe_site **owner, struct pt_regs *regs)
{
	struct kprobe_site *site;

	preempt_disable_notrace();
	site = READ_ONCE(*owner);
	if (likely(site))
		tell(site, regs, call_before);
	preempt_enable_notrace();
}

/* From a slot: the instruction has been executed. */
void kprobe_executed(struct kprobe_site **owner, struct pt_regs *regs);
__kprobes void kprobe_executed(struct kprobe_site **owner, struct pt_regs *regs)
{
	struct kprobe_site *site;

	preempt_disable_notrace();
	site = READ_ONCE(*owner);
	if (likely(site))
		tell(site, regs, call_after);
	preempt_enable_notrace();
}

/*
 * At a call site of ftrace, where the pc that handlers leave counts for nothing. regs->pc is the site's address
 * afterwards, which ftrace does not look at either.
 */
static noinline void at_call_site(struct kprobe_site *site, unsigned long ip, struct pt_regs *regs)
{
	if (!site || !site->armed)
		return;
	instruction_pointer_set(regs, ip);
	if (tell(site, regs, call_before) || !site->has_post)
		return;
	instruction_pointer_set(regs, ip + PATCH_SITE_SIZE);
	tell(site, regs, call_after);
}

static __always_inline int call_single(struct kprobe_site *site, struct pt_regs *regs)
{
	return site->single->pre_handler(site->single, regs);
}

/* From ftrace_kprobe_caller, where kprobes are the only users. It has raised preempt_count once. */
void kprobe_called(unsigned long ip, struct pt_regs *regs);
void kprobe_called(unsigned long ip, struct pt_regs *regs)
{
	struct kprobe_site *site = kprobe_find_site(ip);

	if (likely(site && site->single)) {
		instruction_pointer_set(regs, ip);
		tell(site, regs, call_single);
	} else {
		at_call_site(site, ip, regs);
	}
	trace_leave(current, READ_ONCE(current->preempt_count) - PREEMPT_OFFSET);
}

/* Where there are other users. */
static void ftrace_hit(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	if (regs)
		at_call_site(kprobe_find_site(ip), ip, regs);
}

static struct ftrace_ops ftrace_probes = {
	.func = ftrace_hit,
	.name = "kprobe",
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION | FTRACE_OPS_FL_KPROBES,
};
static unsigned nr_ftrace_probes; /* [kprobe_mutex] */

/* An empty filter would mean all functions, so the user goes before its last site does. 0 or -errno of ftrace. */
int kprobe_ask_ftrace(unsigned long addr, bool on)
{
	int err;

	if (!on) {
		if (!--nr_ftrace_probes)
			unregister_ftrace_function(&ftrace_probes);
		return ftrace_set_filter_ip(&ftrace_probes, addr, 1, 0);
	}
	err = ftrace_set_filter_ip(&ftrace_probes, addr, 0, 0);
	if (err || nr_ftrace_probes++)
		return err;
	ftrace_set_kprobe_caller(FTRACE_KPROBE_CALLER_ADDR);
	err = register_ftrace_function(&ftrace_probes);
	if (err) {
		nr_ftrace_probes--;
		ftrace_set_filter_ip(&ftrace_probes, addr, 1, 0);
	}
	return err;
}

/* ---- What others ask */

static __kprobes unsigned long kprobe_true_pc(unsigned long pc)
{
	const struct kprobe_slot *slot = kprobe_slot_at(pc);

	return slot ? slot->addr : pc;
}

/* What a site has replaced is laid over what was read; a site begins at most its length before `addr`. */
static __kprobes void kprobe_hide(unsigned long addr, u8 *text, unsigned len)
{
	for (unsigned long at = addr - KPROBE_MAX_COPY + 1; at < addr + len; at++) {
		const struct kprobe_site *site = kprobe_find_site(at);

		if (!site || !site->armed || site->how == KPROBE_BY_FTRACE)
			continue;
		for (unsigned i = 0; i < site->len; i++)
			if (at + i >= addr && at + i < addr + len)
				text[at + i - addr] = site->original[i];
	}
}

__kprobes bool kprobe_read_text(unsigned long addr, void *to, unsigned len)
{
	if (copy_from_kernel_nofault(to, (const void *)addr, len))
		return false;
	kprobe_hide(addr, to, len);
	return true;
}

/* Each time the same: text that needs them is written later. */
void kprobe_set_hooks(void)
{
	WRITE_ONCE(probe_hooks.kernel_break, kprobe_breakpoint);
	WRITE_ONCE(probe_hooks.kernel_pc, kprobe_true_pc);
	WRITE_ONCE(probe_hooks.hide, kprobe_hide);
}
