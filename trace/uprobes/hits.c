/*
 * A hit of a uprobe, and what may happen while a program is in a slot.
 *
 * The breakpoint's exception comes here with interrupts on. The consumers are called, and the program goes on in the
 * slot of the place, which does what the original instruction did and branches back. The slot is made at the first hit.
 *
 * ROUNDS. A consumer may sleep, so neither a spinlock nor RCU keeps the list of consumers as it is. Instead each task
 * notes in uprobe_round, before it looks at a list, the number of the present round. Whoever has taken a consumer off a
 * list begins a new round, and waits until no task is in an older one. A task that is in a newer one has looked at the
 * list after the consumer had left it.
 *
 * IN A SLOT nobody else may see the program. A signal that comes there waits until the program has been stepped out of
 * the slot: so no signal frame, no debugger and no core ever has a pc in a slot, except for a program that is killed. A
 * step of a debugger goes on until it is out. An instruction that faults is reported at its true place; when the
 * program tries it again there, that is a new hit, as on Linux.
 */
#include <arch/user_step.h>
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <lib/string.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <sched/current.h>

#include "internal.h"

static u64 round = 1; /* [atomic] */

void uprobe_round_begin(void)
{
	WRITE_ONCE(current->uprobe_round, READ_ONCE(round));
	smp_mb(); /* noted before a list is looked at; pairs with uprobe_synchronize() */
}

void uprobe_round_end(void)
{
	smp_store_release(&current->uprobe_round, 0UL);
}

static bool is_older(u64 of_task, u64 than)
{
	return of_task && of_task < than;
}

static bool any_older(u64 than)
{
	struct task_struct *p, *t;
	bool found = false;

	rcu_read_lock();
	for_each_process(p)
		for_each_thread(p, t)
			found |= is_older(READ_ONCE(t->uprobe_round), than);
	rcu_read_unlock();
	return found;
}

void uprobe_synchronize(void)
{
	u64 mine = __atomic_add_fetch(&round, 1, __ATOMIC_SEQ_CST);

	smp_mb();
	while (any_older(mine)) {
		__set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_timeout_ns(NSEC_PER_MSEC);
	}
}

/* The place's probe, with a reference, and its slot, or 0. NULL: it is not watched. */
static struct uprobe *find_hit(struct mm_uprobes *mu, unsigned long addr, unsigned long *slot)
{
	struct uprobe *uprobe = NULL;
	struct uprobe_site *site;

	rcu_read_lock();
	site = uprobe_find_site(mu, addr);
	if (site)
		uprobe = smp_load_acquire(&site->uprobe);
	if (uprobe && !atomic_inc_not_zero(&uprobe->refs))
		uprobe = NULL;
	*slot = uprobe ? smp_load_acquire(&site->slot) : 0;
	rcu_read_unlock();
	return uprobe;
}

static void call_consumers(struct uprobe *uprobe, struct pt_regs *regs)
{
	bool returns = false;

	uprobe_round_begin();
	for (struct uprobe_consumer *c = smp_load_acquire(&uprobe->consumers); c; c = smp_load_acquire(&c->next)) {
		if (c->handler)
			c->handler(c, regs);
		returns |= c->ret_handler != NULL;
	}
	if (returns)
		uretprobe_enter(uprobe, regs);
	uprobe_round_end();
}

/*
 * The first hit of the place in this program. Returns where to go on: the slot, or, where there cannot be one, the
 * place itself, which is not watched in this program any more.
 */
static unsigned long make_slot(struct mm_struct *mm, unsigned long addr)
{
	struct uprobe_site *site;
	unsigned long to = addr;

	mutex_lock(&mm->mmap_lock);
	site = uprobe_find_site(mm->uprobes, addr);
	if (site && site->uprobe) {
		if (uprobe_make_slot(mm, site))
			uprobe_remove_site(mm, site);
		else
			to = site->slot;
	}
	mutex_unlock(&mm->mmap_lock);
	return to;
}

/*
 * A breakpoint was met, and no probe was found for it. False: it is the program's own. True: the program tries again,
 * because the breakpoint has gone, or it belongs to a probe that has come since. Both are looked at under mmap_lock: a
 * probe may go and come back between the search for it and a look at the text, and the program would get a signal.
 */
static bool has_changed(struct mm_struct *mm, unsigned long addr)
{
	u8 text[UPROBE_BREAK_SIZE];
	const struct uprobe_site *site;
	bool changed;

	mutex_lock(&mm->mmap_lock);
	site = uprobe_find_site(mm->uprobes, addr);
	changed = (site && site->uprobe) || !access_vm_locked(mm, addr, text, sizeof(text), FAULT_FLAG_FORCE) ||
		  memcmp(text, arch_uprobe_break, sizeof(text));
	mutex_unlock(&mm->mmap_lock);
	return changed;
}

/* A handler that has changed the pc has said where to go on. */
static bool hit_breakpoint(struct mm_uprobes *mu, struct pt_regs *regs)
{
	unsigned long addr = instruction_pointer(regs) - UPROBE_BREAK_PC, slot;
	struct uprobe *uprobe;

	if (addr == READ_ONCE(mu->trampoline)) {
		uretprobe_return(regs);
		return true;
	}
	uprobe = find_hit(mu, addr, &slot);
	if (!uprobe) {
		if (!has_changed(current->mm, addr))
			return false;
		instruction_pointer_set(regs, addr);
		return true;
	}
	instruction_pointer_set(regs, addr);
	call_consumers(uprobe, regs);
	if (likely(instruction_pointer(regs) == addr))
		instruction_pointer_set(regs, slot ? slot : make_slot(current->mm, addr));
	uprobe_put(uprobe);
	return true;
}

/* ---- In a slot */

/* What is to be known of the slot that the program is in. False: it is in none. */
static bool find_slot(struct mm_uprobes *mu, unsigned long pc, struct uprobe_site *copy)
{
	const struct uprobe_site *site;

	preempt_disable_notrace();
	site = uprobe_site_of_slot(mu, pc);
	if (site)
		*copy = *site;
	preempt_enable_notrace();
	return site;
}

/* A task that is being killed is not stepped: its instruction may never get the memory that it wants. */
static bool hit_deny_signal(struct mm_uprobes *mu, struct pt_regs *regs)
{
	unsigned long pc = instruction_pointer(regs);
	struct uprobe_site site;

	if (pc == READ_ONCE(mu->trampoline)) {
		uretprobe_return(regs);
		return false;
	}
	if (!find_slot(mu, pc, &site))
		return false;
	if (site.done && pc == site.slot + site.done) {
		instruction_pointer_set(regs, site.addr + site.len);
		return false;
	}
	clear_tsk_thread_flag(current, TIF_SIGPENDING);
	smp_mb(); /* before we look for a kill: one that comes later sets the flag itself */
	if (READ_ONCE(current->pending.signal) & sigmask(SIGKILL)) {
		set_tsk_thread_flag(current, TIF_SIGPENDING);
		return false;
	}
	if (!(READ_ONCE(current->thread_flags) & _TIF_SINGLESTEP)) {
		current->uprobe_stepping = true;
		user_enable_single_step(current);
	}
	return true;
}

/* What a signal frame or a debugger sees when the step is reported is the program's true place. */
static bool hit_step(struct mm_uprobes *mu, struct pt_regs *regs)
{
	unsigned long pc = instruction_pointer(regs);
	struct uprobe_site site;

	if (find_slot(mu, pc, &site)) {
		if (site.pushes_flags && pc == site.slot + site.done)
			arch_uprobe_hide_step(regs);
		if (READ_ONCE(current->thread_flags) & _TIF_SINGLESTEP)
			user_enable_single_step(current); /* else the program steps itself, by its own trap flag */
		return true;
	}
	if (pc == READ_ONCE(mu->trampoline))
		uretprobe_return(regs);
	if (!current->uprobe_stepping)
		return false;
	current->uprobe_stepping = false;
	user_disable_single_step(current);
	set_tsk_thread_flag(current, TIF_SIGPENDING); /* get_signal() finds out whether that is still so */
	return true;
}

/* It is called for each signal of a fault, also for those of the kernel's accesses: then the program is in no slot. */
static unsigned long hit_fault(struct mm_uprobes *mu, unsigned long addr)
{
	struct pt_regs *regs = task_pt_regs(current);
	unsigned long pc = instruction_pointer(regs), true_pc;
	struct uprobe_site site;

	if (!user_mode(regs) || !find_slot(mu, pc, &site))
		return addr;
	true_pc = site.done && pc == site.slot + site.done ? site.addr + site.len : site.addr;
	if (site.pushed && pc == site.slot + site.pushed)
		arch_uprobe_undo_push(regs);
	instruction_pointer_set(regs, true_pc);
	if (current->uprobe_stepping) {
		current->uprobe_stepping = false;
		user_disable_single_step(current);
	}
	return addr == pc ? true_pc : addr;
}

static unsigned long hit_true_pc(struct mm_uprobes *mu, unsigned long pc)
{
	struct uprobe_site site;

	return find_slot(mu, pc, &site) ? site.addr : pc;
}

static const struct uprobe_ops hit_ops = {
	.deny_signal = hit_deny_signal,
	.fault = hit_fault,
	.breakpoint = hit_breakpoint,
	.step = hit_step,
	.true_pc = hit_true_pc,
	.true_return = uretprobe_true_return,
};
REGISTER_UPROBE_OPS(hit_ops);
