/* What the vDSO can do on this machine. */
#pragma once

/* May programs read the counter that is the clock? CNTKCTL_EL1 lets them (boot/arm64_head.S). */
#define arch_vdso_counter() true
