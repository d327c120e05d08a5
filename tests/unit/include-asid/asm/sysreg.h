/* Stand-in: the system registers that arch/aarch64/task/context.c uses are variables of the test. */
#pragma once

#include <lib/types.h>

extern u64 host_id_aa64mmfr0_el1, host_ttbr0_el1;

#define read_sysreg(reg)	 host_##reg
#define write_sysreg(value, reg) (host_##reg = (value))
