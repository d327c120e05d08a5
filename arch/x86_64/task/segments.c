/*
 * User mode's data segments. In 64-bit mode DS and ES do nothing but keep a selector. FS and GS have a base, which
 * programs use for the data of a thread. A program sets a base by arch_prctl(2); it can load a selector into any of
 * the four registers by itself. A load of FS or GS sets the base to that of the descriptor, which is 0 in all
 * descriptors of ours (desc.c), and it is 0 for a null selector, too. (AMD's older CPUs keep the base with a null
 * selector.) So a register's base is the one that the program was given last, or 0.
 */
#include <asm/msr.h>
#include <asm/segment.h>
#include <irq/irqflags.h>
#include <sched/current.h>

#include "segments.h"

#define RPL_MASK 3

/* The kernel uses none of these registers, so they hold the current task's selectors. */
static union user_segments segments_read(void)
{
	union user_segments s;

	__asm__ volatile("movw %%ds, %0\n\tmovw %%es, %1\n\tmovw %%fs, %2\n\tmovw %%gs, %3"
			 : "=r"(s.ds), "=r"(s.es), "=r"(s.fs), "=r"(s.gs));
	return s;
}

/*
 * Loads the four registers, after which both bases have to be written where they are not 0. A load of GS goes to the
 * base that is in use, which is the kernel's, so it has an assembly routine (entry.S). Each selector must be one that
 * the CPU takes. Interrupts off.
 */
static void segments_load(union user_segments s)
{
	__asm__ volatile("movl %0, %%ds\n\tmovl %1, %%es\n\tmovl %2, %%fs"
			 :
			 : "r"((u32)s.ds), "r"((u32)s.es), "r"((u32)s.fs)
			 : "memory");
	load_user_gs(s.gs);
}

/* The program may have loaded a selector since its base was set, so the base is read back; one that is 0 stays 0. */
void segments_exchange(struct thread_struct *prev, struct thread_struct *next)
{
	prev->segments = segments_read();
	if (prev->fsbase)
		prev->fsbase = rdmsrl(MSR_FS_BASE);
	if (prev->gsbase)
		prev->gsbase = rdmsrl(MSR_KERNEL_GS_BASE);
	if (prev->segments.all | next->segments.all)
		segments_load(next->segments);
	if (prev->fsbase | next->fsbase)
		wrmsrl(MSR_FS_BASE, next->fsbase);
	if (prev->gsbase | next->gsbase)
		wrmsrl(MSR_KERNEL_GS_BASE, next->gsbase);
}

void segments_copy(struct thread_struct *to)
{
	to->segments = segments_read();
	to->fsbase = rdmsrl(MSR_FS_BASE);
	to->gsbase = rdmsrl(MSR_KERNEL_GS_BASE);
}

/* The field and the register change with interrupts off, since a switch of tasks goes by both. */
void segments_set_fs(u64 base)
{
	local_irq_disable();
	__asm__ volatile("movl %0, %%fs" : : "r"(0) : "memory");
	current->thread.fsbase = base;
	wrmsrl(MSR_FS_BASE, base);
	local_irq_enable();
}

void segments_set_gs(u64 base)
{
	local_irq_disable();
	load_user_gs(0);
	current->thread.gsbase = base;
	wrmsrl(MSR_KERNEL_GS_BASE, base);
	local_irq_enable();
}

/* A switch that finds only zeros leaves the registers alone, so they and the fields change in one go. */
void segments_clear(void)
{
	struct thread_struct *thread = &current->thread;

	local_irq_disable();
	thread->segments.all = thread->fsbase = thread->gsbase = 0;
	segments_load(thread->segments);
	wrmsrl(MSR_FS_BASE, 0);
	wrmsrl(MSR_KERNEL_GS_BASE, 0);
	local_irq_enable();
}

/* Null, or a descriptor that user mode may use as data: its code can be read, too. There is no local table. */
bool segments_loadable(u16 selector)
{
	u16 descriptor = selector & ~RPL_MASK;

	return !descriptor || descriptor == (__USER_DS & ~RPL_MASK) || descriptor == (__USER_CS & ~RPL_MASK) ||
	       descriptor == (__CPU_SEG & ~RPL_MASK);
}
