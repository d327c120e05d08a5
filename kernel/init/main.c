/*
 * The map of the kernel: everything that is initialised, in order. Levels of initcalls are what stands beside the
 * functions themselves (<kernel/init.h>); the event initcall_start and initcall_debug show them one by one.
 */
#include <arch/mmu.h>
#include <boot/boot_info.h>
#include <drivers/driver.h>
#include <fs/vfs.h>
#include <irq/irqflags.h>
#include <irq/softirq.h>
#include <irq/workqueue.h>
#include <kernel/cmdline.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/percpu.h>
#include <kernel/printk.h>
#include <kernel/random.h>
#include <kernel/utsname.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>
#include <proc/fork.h>
#include <proc/signal.h>
#include <proc/task_alloc.h>
#include <sched/sched.h>
#include <time/hrtimer.h>
#include <trace/ftrace.h>
#include <trace/trace_boot.h>

/* Process 1: the rest of initialisation, with everything there that a thread may use; then it becomes /init. */
static int kernel_init(void *unused)
{
	do_initcalls(early);	   /* what is easiest while there is one CPU: futexes */
	smp_init();		   /* the other CPUs, and the threads that stop them */
	do_initcalls(core);	   /* threads that serve all others: softirqs, work queues, call_rcu() */
	do_initcalls(fs);	   /* the first files, from the initramfs */
	do_initcalls(device);	   /* drivers: serial port, real-time clock, ... */
	console_on_rootfs();	   /* its descriptors 0, 1 and 2 */
	do_initcalls(late);	   /* when all else is there: traceoff_after_boot */
	return run_init_process(); /* we are /init now, and return into user mode */
}

/* Start process 1 and become the boot CPU's idle task. */
static void __noreturn rest_init(void)
{
	struct kernel_clone_args args = {.flags = CLONE_FS, .fn = kernel_init, .exit_signal = SIGCHLD};
	pid_t pid = kernel_clone(&args);

	if (pid < 0)
		panic("Cannot start process 1 (error %d)", -pid);
	kthreadd_init(); /* process 2: parent of all kernel threads */
	cpu_startup_entry();
}

/*
 * The order of a boot; each line needs those above it. Context: the boot CPU, on its idle task, interrupts off up to
 * the last line but one.
 */
void start_kernel(void)
{
	ftrace_early_command_line();	       /* are calls noted until there is a tracer? */
	smp_setup_boot_cpu(boot_info.nr_cpus); /* how many CPUs there can be */
	pr_notice(UTS_SYSNAME " version " UTS_RELEASE " " UTS_VERSION "\n");
	pr_info("Machine: %s\n", boot_info.machine);
	parse_early_params();	       /* loglevel=, earlycon, ... */
	paging_init();		       /* all RAM at its final addresses, final permissions */
	setup_per_cpu_areas();	       /* from here on: per_cpu() of other CPUs */
	cmdline_find_more();	       /* words for parse_params() that do not stand on the line: a bootconfig's */
	page_alloc_init();	       /* from here on: alloc_pages() */
	kmem_cache_init();	       /* from here on: kmalloc() */
	vmalloc_init();		       /* from here on: vmalloc(), ioremap() */
	mm_init();		       /* caches of address spaces, the zero page */
	sched_init();		       /* runqueues; we are the boot CPU's idle task */
	parse_params();		       /* the rest of the command line */
	random_init();		       /* what firmware gives for a beginning */
	ftrace_init();		       /* every mcount site becomes a nop, before a second CPU can run one */
	trace_init();		       /* ring buffers, and what the command line wants recorded */
	softirq_init();		       /* before the first interrupt */
	workqueue_init_early();	       /* work can be queued; it waits for its threads */
	hrtimers_init();	       /* timers; their hardware comes next */
	drivers_probe(DRIVER_IRQCHIP); /* interrupt controller */
	drivers_probe(DRIVER_TIMER);   /* clock event */
	hrtimers_init_cpu();
	tick_init_cpu();
	fork_init(); /* tasks and their limits */
	signals_init();
	vfs_init(); /* caches, the root file system, registered file systems */
	local_irq_enable();
	rest_init(); /* process 1 does the rest; we idle */
}
