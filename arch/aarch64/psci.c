/*
 * The power firmware: starting CPUs, off, reset (Arm DEN 0022, PSCI; calls by SMC or HVC as DEN
 * 0028 has them). The FDT says which of the two instructions reaches it. A call takes a function
 * number and up to three arguments in x0 to x3, and returns a status in x0.
 */
#include <boot/fdt.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>

#include "smp.h"

#define PSCI_0_2_CPU_OFF       0x84000002
#define PSCI_0_2_CPU_ON	       0xc4000003
#define PSCI_0_2_AFFINITY_INFO 0xc4000004
#define PSCI_0_2_SYSTEM_OFF    0x84000008
#define PSCI_0_2_SYSTEM_RESET  0x84000009

/* What the firmware answers. */
#define PSCI_SUCCESS		0
#define PSCI_NOT_SUPPORTED	(-1)
#define PSCI_INVALID_PARAMETERS (-2)
#define PSCI_DENIED		(-3)
#define PSCI_ALREADY_ON		(-4)
#define PSCI_ON_PENDING		(-5)
#define PSCI_AFFINITY_OFF	1 /* of AFFINITY_INFO: it executes nothing, and may be started */

static enum { PSCI_NONE, PSCI_HVC, PSCI_SMC } conduit; /* [immutable after boot] */
static u32 cpu_on_function = PSCI_0_2_CPU_ON;	       /* [immutable after boot] PSCI 0.1: from the FDT */
static bool has_system_calls;			       /* [immutable after boot] 0.2 and later */

/*
 * The two instructions differ only in the level of firmware that answers: HVC calls a hypervisor, SMC the secure
 * monitor. The convention lets the callee change x0 to x17. Between the variables in registers and the instruction
 * there may be no call, and so no `if` either, which is one in a kernel that counts branches.
 */
#define PSCI_CALL(instruction, function, a1, a2, a3)                                                             \
	({                                                                                                       \
		register u64 x0 __asm__("x0") = function;                                                        \
		register u64 x1 __asm__("x1") = a1;                                                              \
		register u64 x2 __asm__("x2") = a2;                                                              \
		register u64 x3 __asm__("x3") = a3;                                                              \
		__asm__ volatile(instruction " #0"                                                               \
				 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)                                        \
				 :                                                                               \
				 : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", \
				   "x16", "x17", "memory");                                                      \
		(s32) x0;                                                                                        \
	})

static long psci_call(u32 function, u64 a1, u64 a2, u64 a3)
{
	if (conduit == PSCI_HVC)
		return PSCI_CALL("hvc", function, a1, a2, a3);
	return PSCI_CALL("smc", function, a1, a2, a3);
}

/*
 * Boot, once. Version 0.2 fixed the function numbers; before that the FDT gives that of CPU_ON, and there are no calls
 * for the system. Without the node there is one CPU and no power-off.
 */
void psci_init(void)
{
	int node = fdt_find_compatible("arm,psci-1.0"), len;
	const char *method;
	u32 function;

	if (node < 0)
		node = fdt_find_compatible("arm,psci-0.2");
	has_system_calls = node >= 0;
	if (node < 0)
		node = fdt_find_compatible("arm,psci");
	if (node < 0)
		return;
	if (!has_system_calls && !fdt_read_u32(node, "cpu_on", &function))
		cpu_on_function = function;
	method = fdt_getprop(node, "method", &len);
	if (method && !strncmp(method, "hvc", len))
		conduit = PSCI_HVC;
	else if (method && !strncmp(method, "smc", len))
		conduit = PSCI_SMC;
	else
		pr_warn("psci: FDT gives no method; no other CPUs, no power-off\n");
}

/*
 * The firmware's answers in our terms (Arm DEN 0022, return codes). 0: the CPU will begin at `entry` with the MMU off
 * and x0 = context.
 */
int psci_cpu_on(u64 mpidr, phys_addr_t entry, u64 context)
{
	if (conduit == PSCI_NONE)
		return -ENODEV;
	switch (psci_call(cpu_on_function, mpidr, entry, context)) {
	case PSCI_SUCCESS:
		return 0;
	case PSCI_NOT_SUPPORTED:
		return -EOPNOTSUPP;
	case PSCI_INVALID_PARAMETERS:
		return -EINVAL;
	case PSCI_DENIED:
		return -EPERM;
	case PSCI_ALREADY_ON:
	case PSCI_ON_PENDING:
		return -EBUSY;
	default:
		return -EIO;
	}
}

/* Version 0.1 cannot be asked whether a CPU is off. */
bool psci_has_cpu_off(void)
{
	return conduit != PSCI_NONE && has_system_calls;
}

noinstr void psci_cpu_off(void)
{
	if (conduit == PSCI_HVC)
		PSCI_CALL("hvc", PSCI_0_2_CPU_OFF, 0, 0, 0);
	else
		PSCI_CALL("smc", PSCI_0_2_CPU_OFF, 0, 0, 0);
}

bool psci_cpu_is_off(u64 mpidr)
{
	return psci_call(PSCI_0_2_AFFINITY_INFO, mpidr, 0, 0) == PSCI_AFFINITY_OFF;
}

/* Returns only when the firmware cannot do it. */
void psci_system_off(void)
{
	if (conduit != PSCI_NONE && has_system_calls)
		psci_call(PSCI_0_2_SYSTEM_OFF, 0, 0, 0);
}

void psci_system_reset(void)
{
	if (conduit != PSCI_NONE && has_system_calls)
		psci_call(PSCI_0_2_SYSTEM_RESET, 0, 0, 0);
}
