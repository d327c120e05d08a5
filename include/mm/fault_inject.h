/*
 * Fault injection: allocations that fail although there is memory, so that the paths behind a failure are run.
 * docs/fault-injection.md says how it is used, and kernel/mm/pages/fault_inject.c how it decides.
 */
#pragma once

#include <kernel/jump_label.h>
#include <mm/gfp.h>

struct task_struct;

/* On as long as a fault may be injected: a probability is not 0, or a task counts towards one (fail-nth). */
extern struct static_key fault_injection_key;

/* Must this allocation fail? The allocators ask behind the key. Any context but nmi. */
bool should_fail_slab(unsigned size, gfp_t gfp);
bool should_fail_page(unsigned order, gfp_t gfp);

/*
 * The task's nth allocation from now on fails, among those that the settings of the two allocators let fail; 0: no
 * allocation. Thread context; sleeps, but allocates nothing once the task counts.
 */
void fault_injection_set_nth(struct task_struct *task, unsigned nth);
