/*
 * This CPU: idling, halting, what it is called and what it can do. Features are read once, on the boot CPU; the others
 * are taken to be alike (cpu_features).
 */
#include <arch/processor.h>
#include <asm/barrier.h>
#include <asm/cpufeature.h>
#include <asm/debugreg.h>
#include <asm/irq_vectors.h>
#include <asm/msr.h>
#include <lib/string.h>

#include "exception.h"
#include "smp.h"

/* CPUID leaves and bits (SDM vol. 2, CPUID; AMD APM vol. 3, appendix E). */
#define LEAF1_EDX_MCE	     BIT(7)
#define LEAF1_EDX_PGE	     BIT(13)
#define LEAF1_EDX_FXSR	     BIT(24)
#define LEAF1_ECX_X2APIC     BIT(21)
#define LEAF1_ECX_DEADLINE   BIT(24)
#define LEAF1_ECX_XSAVE	     BIT(26)
#define LEAF1_ECX_AVX	     BIT(28)
#define LEAF1_ECX_HYPERVISOR BIT(31)
#define LEAF7_EBX_FSGSBASE   BIT(0)
#define LEAF7_EBX_SMEP	     BIT(7)
#define LEAF7_EBX_ERMS	     BIT(9)
#define LEAF7_EBX_SMAP	     BIT(20)
#define LEAF7_ECX_UMIP	     BIT(2)
#define LEAFD1_EAX_XSAVEOPT  BIT(0)
#define EXT1_EDX_NX	     BIT(20)
#define EXT1_EDX_PAGES_1G    BIT(26)
#define EXT1_EDX_RDTSCP	     BIT(27)
#define EXT7_EDX_INVARIANT   BIT(8)
#define EXT_LEAF	     0x80000000

struct cpu_features cpu_features;

/*
 * With interrupts off, and not an instruction between STI and HLT at which one could be taken (SDM vol. 2,
 * STI): an interrupt that is pending now ends the HLT. idle_hlt is for the NMI handler, as NMIs know no such
 * pause: where HLT is, and what follows it. Both functions are noinstr: a probed STI would be executed elsewhere, with
 * a jump between it and HLT.
 */
#define STI_HLT_CLI(name)          \
	"sti\n\t"                  \
	".globl " name "\n"        \
	"1:\thlt\n"                \
	"2:\tcli\n\t"              \
	".pushsection .rodata\n\t" \
	".balign 8\n" name ":\n\t" \
	".quad 1b, 2b\n\t"         \
	".popsection"

noinstr void arch_cpu_idle(void)
{
	__asm__ volatile(STI_HLT_CLI("idle_hlt") : : : "memory");
}

/*
 * HLT sleeps through what is masked. So interrupts are on for the HLT, and the task priority holds back all but the
 * highest class (SDM vol. 3, 10.8.3): WAKE_VECTOR, which ends the wait, and the APIC's spurious one, which raising the
 * priority can cause (10.9). What is held back stays pending in the APIC until the stop is over.
 */
noinstr void arch_parked_wait(void)
{
	write_cr(8, PARKED_CLASS - 1);
	__asm__ volatile(STI_HLT_CLI("parked_hlt") : : : "memory");
	write_cr(8, 0);
}

void arch_halt(void)
{
	tlb_cpu_leave();
	for (;;)
		__asm__ volatile("cli\n\thlt" : : : "memory"); /* an NMI goes on behind it */
}

const char *arch_cpu_name(void)
{
	return cpu_features.name;
}

/* The brand string: three leaves of 16 characters, padded with spaces on either side. Older CPUs have none. */
static void read_name(struct cpu_features *f)
{
	struct cpuid_regs brand[3];

	if (f->max_ext_leaf < EXT_LEAF + 4) {
		strscpy(f->name, f->vendor, sizeof(f->name));
		return;
	}
	for (unsigned i = 0; i < 3; i++)
		brand[i] = cpuid(EXT_LEAF + 2 + i, 0);
	memcpy(f->name, brand, sizeof(brand));
	f->name[48] = '\0';
	memmove(f->name, strim(f->name), strlen(strim(f->name)) + 1);
}

/* Family and model are each in two parts (SDM vol. 2, CPUID, figure 3-6). */
static void read_version(struct cpu_features *f, u32 eax)
{
	f->stepping = eax & 15;
	f->model = eax >> 4 & 15;
	f->family = eax >> 8 & 15;
	if (f->family == 6 || f->family == 15)
		f->model |= eax >> 12 & 0xf0;
	if (f->family == 15)
		f->family += eax >> 20 & 0xff;
}

static void read_leaf_1(struct cpu_features *f)
{
	struct cpuid_regs r = cpuid(1, 0);

	read_version(f, r.eax);
	f->hwcap = r.edx;
	f->mce = r.edx & LEAF1_EDX_MCE;
	f->pge = r.edx & LEAF1_EDX_PGE;
	f->fxsr = r.edx & LEAF1_EDX_FXSR;
	f->x2apic = r.ecx & LEAF1_ECX_X2APIC;
	f->tsc_deadline = r.ecx & LEAF1_ECX_DEADLINE;
	f->xsave = r.ecx & LEAF1_ECX_XSAVE;
	f->avx = r.ecx & LEAF1_ECX_AVX;
	f->hypervisor = r.ecx & LEAF1_ECX_HYPERVISOR;
}

/* Leaf 7 came later than leaf 1, so it is asked for only where max_leaf says that it is there. */
static void read_leaf_7(struct cpu_features *f)
{
	struct cpuid_regs r;

	if (f->max_leaf < 7)
		return;
	r = cpuid(7, 0);
	f->fsgsbase = r.ebx & LEAF7_EBX_FSGSBASE;
	f->smep = r.ebx & LEAF7_EBX_SMEP;
	f->smap = r.ebx & LEAF7_EBX_SMAP;
	f->erms = r.ebx & LEAF7_EBX_ERMS;
	f->umip = r.ecx & LEAF7_ECX_UMIP;
}

static void read_extended_leaves(struct cpu_features *f)
{
	struct cpuid_regs r;

	if (f->max_ext_leaf >= EXT_LEAF + 1) {
		r = cpuid(EXT_LEAF + 1, 0);
		f->nx = r.edx & EXT1_EDX_NX;
		f->pages_1g = r.edx & EXT1_EDX_PAGES_1G;
		f->rdtscp = r.edx & EXT1_EDX_RDTSCP;
	}
	if (f->max_ext_leaf >= EXT_LEAF + 7)
		f->tsc_invariant = cpuid(EXT_LEAF + 7, 0).edx & EXT7_EDX_INVARIANT;
}

/* All of CPUID that the kernel looks at, once. */
static void read_features(struct cpu_features *f)
{
	struct cpuid_regs r = cpuid(0, 0);

	*f = (struct cpu_features){.max_leaf = r.eax};
	memcpy(f->vendor, &r.ebx, 4); /* the order is the registers', not the alphabet's */
	memcpy(f->vendor + 4, &r.edx, 4);
	memcpy(f->vendor + 8, &r.ecx, 4);
	r = cpuid(EXT_LEAF, 0);
	f->max_ext_leaf = r.eax >= EXT_LEAF ? r.eax : 0;
	read_leaf_1(f);
	read_leaf_7(f);
	read_extended_leaves(f);
	if (f->xsave && f->max_leaf >= 0xd)
		f->xsaveopt = cpuid(0xd, 1).eax & LEAFD1_EAX_XSAVEOPT;
	read_name(f);
}

/* Instructions that boot replaces: SMAP_SITE (asm/assembler.h) writes the list. */
struct alternative {
	s32 site;   /* relative to this field */
	u8 insn[4]; /* three bytes of it */
};
extern const struct alternative __start___alternatives[], __stop___alternatives[];

/*
 * Write STAC and CLAC over the three-byte nops, in read-only text, through the mapping that
 * executes it. CR0.WP is off for the moment, so the CPU's own writes ignore write protection. It is
 * safe because the boot CPU is alone, interrupts are off, no page of its own tables is final, and
 * CPUID drops what was fetched before.
 */
static notrace void apply_alternatives(void)
{
	u64 cr0 = read_cr(0);

	write_cr(0, cr0 & ~(u64)X86_CR0_WP);
	for (const struct alternative *a = __start___alternatives; a < __stop___alternatives; a++) {
		u8 *site = (u8 *)&a->site + a->site;

		for (unsigned i = 0; i < 3; i++)
			WRITE_ONCE(site[i], a->insn[i]);
	}
	write_cr(0, cr0);
	serialize();
}

void cpu_features_init(void)
{
	read_features(&cpu_features);
	if (cpu_features.smap)
		apply_alternatives();
}

/*
 * CR4.FSGSBASE stays off: with WRGSBASE a program could give GS a kernel address, by whose sign entry.S tells
 * whose GS it is. CR0.AM: alignment checks are there for programs that set RFLAGS.AC. Breakpoint
 * registers that a boot loader has left on are switched off: hw_breakpoint.c sets them.
 */
notrace void cpu_setup(void)
{
	const struct cpu_features *f = &cpu_features;
	u64 cr4 = read_cr(4) & ~(u64)(X86_CR4_FSGSBASE | X86_CR4_TSD);

	cr4 |= f->mce ? X86_CR4_MCE : 0;
	cr4 |= f->pge ? X86_CR4_PGE : 0;
	cr4 |= f->umip ? X86_CR4_UMIP : 0;
	cr4 |= f->smep ? X86_CR4_SMEP : 0;
	cr4 |= f->smap ? X86_CR4_SMAP : 0;
	write_cr(4, cr4);
	write_cr(0, (read_cr(0) | X86_CR0_WP | X86_CR0_NE | X86_CR0_AM) & ~(u64)(X86_CR0_NW | X86_CR0_CD));
	write_dr(7, DR7_RESET);
	wrmsrl(MSR_EFER, rdmsrl(MSR_EFER) | EFER_SCE | (f->nx ? EFER_NX : 0));
}
