/* What the vDSO can do on this machine. */
#pragma once

#include <asm/clock.h>

/* May programs read the counter that is the clock? The TSC, but not the HPET, whose registers are not theirs. */
#define arch_vdso_counter() (!static_key_enabled(&clock_by_hpet))
