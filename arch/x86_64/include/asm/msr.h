/* Model-specific registers (SDM vol. 4), control registers, CPUID, I/O barriers of the instruction stream. */
#pragma once

#define MSR_TSC		   0x10
#define MSR_APIC_BASE	   0x1b
#define MSR_MISC_ENABLE	   0x1a0
#define MSR_PAT		   0x277
#define MSR_TSC_DEADLINE   0x6e0
#define MSR_X2APIC	   0x800 /* + register offset / 16 */
#define MSR_EFER	   0xc0000080
#define MSR_STAR	   0xc0000081
#define MSR_LSTAR	   0xc0000082
#define MSR_CSTAR	   0xc0000083
#define MSR_SYSCALL_MASK   0xc0000084
#define MSR_FS_BASE	   0xc0000100
#define MSR_GS_BASE	   0xc0000101
#define MSR_KERNEL_GS_BASE 0xc0000102
#define MSR_TSC_AUX	   0xc0000103

#define EFER_SCE (1 << 0)
#define EFER_LME (1 << 8)
#define EFER_LMA (1 << 10)
#define EFER_NX	 (1 << 11)

#define X86_CR0_PE (1 << 0)
#define X86_CR0_MP (1 << 1)
#define X86_CR0_EM (1 << 2)
#define X86_CR0_TS (1 << 3)
#define X86_CR0_ET (1 << 4)
#define X86_CR0_NE (1 << 5)
#define X86_CR0_WP (1 << 16)
#define X86_CR0_AM (1 << 18)
#define X86_CR0_NW (1 << 29)
#define X86_CR0_CD (1 << 30)
#define X86_CR0_PG (1U << 31)

#define X86_CR4_TSD	   (1 << 2)
#define X86_CR4_PSE	   (1 << 4)
#define X86_CR4_PAE	   (1 << 5)
#define X86_CR4_MCE	   (1 << 6)
#define X86_CR4_PGE	   (1 << 7)
#define X86_CR4_OSFXSR	   (1 << 9)
#define X86_CR4_OSXMMEXCPT (1 << 10)
#define X86_CR4_UMIP	   (1 << 11)
#define X86_CR4_FSGSBASE   (1 << 16)
#define X86_CR4_OSXSAVE	   (1 << 18)
#define X86_CR4_SMEP	   (1 << 20)
#define X86_CR4_SMAP	   (1 << 21)

#ifndef __ASSEMBLY__
#include <lib/types.h>

static __always_inline u64 rdmsrl(u32 msr)
{
	u32 low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (u64)high << 32 | low;
}
static __always_inline void wrmsrl(u32 msr, u64 v)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "a"((u32)v), "d"((u32)(v >> 32)) : "memory");
}

/* Control registers: read_cr(3), write_cr(4, v). Writes are compiler barriers. */
#define read_cr(n)                                                               \
	({                                                                       \
		u64 _cr;                                                         \
		__asm__ volatile("mov %%cr" #n ", %0" : "=r"(_cr) : : "memory"); \
		_cr;                                                             \
	})
#define write_cr(n, v) __asm__ volatile("mov %0, %%cr" #n : : "r"((u64)(v)) : "memory")

struct cpuid_regs {
	u32 eax, ebx, ecx, edx;
};
static __always_inline struct cpuid_regs cpuid(u32 leaf, u32 sub)
{
	struct cpuid_regs r;

	__asm__ volatile("cpuid" : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx) : "a"(leaf), "c"(sub));
	return r;
}
#endif
