/* The per-CPU variables that GS-relative instructions name: asm/percpu.h, asm/current.h. */
#include <asm/percpu.h>
#include <kernel/export.h>
#include <kernel/percpu.h>
#include <sched/current.h>

#include "smp.h"

/* The template's values are the boot CPU's. Each other CPU's are set before it runs. [its CPU] */
DEFINE_PER_CPU(unsigned long, this_cpu_off);
extern struct task_struct init_task;
DEFINE_PER_CPU(struct task_struct *, current_task) = &init_task;
/* Modules know them by name, too; %gs finds them there as here. */
EXPORT_SYMBOL(this_cpu_off);
EXPORT_SYMBOL(current_task);
