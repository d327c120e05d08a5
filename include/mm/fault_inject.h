/*
 * Fault injection: allocations that fail although there is memory, so that the paths behind a failure are run.
 * docs/fault-injection.md says how it is used, and kernel/mm/fault_inject/fault_inject.c how it decides.
 */
#pragma once

#include <kernel/jump_label.h>
#include <mm/gfp.h>

/* On as long as a fault may be injected: a probability is not 0, or a task counts towards one (fail-nth). */
extern struct static_key fault_injection_key;

/* Must this allocation fail? Any context but nmi. The room that switches the key; one at most registers itself. */
struct fault_injector {
	bool (*slab)(unsigned size, gfp_t gfp);
	bool (*page)(unsigned order, gfp_t gfp);
};
#define REGISTER_FAULT_INJECTOR(injector) REGISTER_IN(fault_injectors, injector)
DECLARE_TABLE(fault_injectors, const struct fault_injector);

/* The allocators ask behind the key, which no kernel without the room switches on. */
static inline bool slab_must_fail(unsigned size, gfp_t gfp)
{
	return __start_ptrs_fault_injectors[0]->slab(size, gfp);
}

static inline bool page_must_fail(unsigned order, gfp_t gfp)
{
	return __start_ptrs_fault_injectors[0]->page(order, gfp);
}
