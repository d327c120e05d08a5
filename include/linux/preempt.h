/* Preemption, and in which context one is: in_interrupt() and its like. */
#pragma once

#include <kernel/panic.h>
#include <sched/preempt.h>

#define in_irq()       in_hardirq()
#define in_softirq()   softirq_count()
#define preemptible()  (preempt_count() == 0 && !irqs_disabled())
#define might_sleep()  WARN_ON_ONCE(in_atomic() || irqs_disabled())
