/*
 * What the CPU can do, looked up once: the boot CPU's answers hold for all (a CPU that lacks one does not get
 * online).
 */
#pragma once

#include <lib/types.h>

/* Locks: immutable after cpu_features_init(). */
struct cpu_features {
	bool nx, smep, smap, umip, pge, mce, fsgsbase, rdtscp;
	bool x2apic, tsc_deadline, tsc_invariant, hypervisor;
	bool fxsr, xsave, xsaveopt, avx, erms, pages_1g;
	u32 max_leaf, max_ext_leaf;
	u32 family, model, stepping;
	u32 hwcap; /* CPUID 1 edx: AT_HWCAP */
	char vendor[13], name[49];
};
extern struct cpu_features cpu_features;

/* Boot CPU, before anything asks. */
void cpu_features_init(void);
/*
 * Each CPU, early: control registers and MSRs that go with the features (SMEP, SMAP, NX, WP, UMIP, PGE,
 * SYSCALL, ...).
 */
void cpu_setup(void);
