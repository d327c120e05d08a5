/* Which address space a CPU has loaded, and what its TLB can hold therefore. */
#pragma once

#include <kernel/percpu.h>
#include <mm/mm.h>

/* Its owner writes it, before it loads CR3; flushes of other CPUs read it. Never NULL. [a] */
DECLARE_PER_CPU(struct mm_struct *, loaded_mm);
