/*
 * membarrier(2): a memory barrier on every CPU that runs threads of the caller, so that their own fast paths
 * need none.
 *
 * The expedited commands interrupt other CPUs. A program says beforehand that it means to use the private
 * one, and that it wants to take part in the global one; Linux refuses the private one to a program that has not done
 * so, and so does this kernel. Here every CPU is interrupted in all cases, which is more than is promised: a CPU that
 * switches to another thread meanwhile passes a barrier in the switch. The commands that also synchronise the
 * instruction stream or abort restartable sequences do not exist here, and QUERY does not name them.
 */
#include <kernel/smp.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <mm/mm.h>
#include <proc/syscall.h>
#include <sched/current.h>
#include <sched/sched.h>

#define MEMBARRIER_CMD_QUERY			  0
#define MEMBARRIER_CMD_GLOBAL			  (1 << 0)
#define MEMBARRIER_CMD_GLOBAL_EXPEDITED		  (1 << 1)
#define MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED  (1 << 2)
#define MEMBARRIER_CMD_PRIVATE_EXPEDITED	  (1 << 3)
#define MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED (1 << 4)
#define MEMBARRIER_CMD_GET_REGISTRATIONS	  (1 << 9)
#define MEMBARRIER_CMDS                                                                                       \
	(MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED | \
	 MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED |                       \
	 MEMBARRIER_CMD_GET_REGISTRATIONS)

static void ipi_mb(void *unused)
{
	smp_mb();
}

/* A barrier on each CPU, this one included, before the call returns. */
static long barrier_everywhere(void)
{
	on_each_cpu(ipi_mb, NULL, true);
	return 0;
}

/* Remember the promise in the address space: it holds for all threads, passes to children, and ends with exec. */
static long register_for(u32 command)
{
	atomic_or(command, &current->mm->membarrier_state);
	return 0;
}

/* membarrier(2). -EINVAL: a command or flag that we do not have; -EPERM: private without having registered. */
SYSCALL_DEFINE3(membarrier, int, cmd, unsigned int, flags, int, cpu_id)
{
	if (flags)
		return -EINVAL;
	switch (cmd) {
	case MEMBARRIER_CMD_QUERY:
		return MEMBARRIER_CMDS;
	case MEMBARRIER_CMD_PRIVATE_EXPEDITED:
		if (!(atomic_read(&current->mm->membarrier_state) & MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
			return -EPERM;
		return barrier_everywhere();
	case MEMBARRIER_CMD_GLOBAL:
	case MEMBARRIER_CMD_GLOBAL_EXPEDITED:
		return barrier_everywhere();
	case MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED:
	case MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED:
		return register_for(cmd);
	case MEMBARRIER_CMD_GET_REGISTRATIONS:
		return atomic_read(&current->mm->membarrier_state);
	}
	return -EINVAL;
}
