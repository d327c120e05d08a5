/*
 * Descriptor tables: segments, the task state segment with its stacks, interrupt gates, what SYSCALL loads. Most of it
 * is left from 32-bit times and must be there all the same. What matters: TSS.RSP0 is the stack on entry from user
 * mode, IST entries give NMI, #DB, #MC and #DF a stack each, and the IDT leads each vector to its stub in entry.S.
 */
#include <asm/msr.h>
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <kernel/percpu.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/current.h>

#include "exception.h"
#include "smp.h"

/* SDM vol. 3, figure 8-11: no state of a task here, only the stacks to switch to. */
struct tss {
	u32 reserved0;
	u64 rsp[3]; /* by privilege level: [0] is taken on entry from user mode */
	u64 reserved1;
	u64 ist[7]; /* by a gate's IST number - 1 */
	u64 reserved2;
	u16 reserved3;
	u16 iomap_base; /* beyond the limit: user mode has no I/O ports */
} __packed;
static_assert(sizeof(struct tss) == 104);

/* What each CPU has of its own; the CPU knows the address, so it may not move. [its CPU] */
struct cpu_tables {
	u64 gdt[GDT_ENTRIES];
	struct tss tss;
} __aligned(64);

/* SDM vol. 3, figure 6-8. */
struct idt_gate {
	u16 offset_low, selector;
	u8 ist;
	u8 type; /* present, privilege level, 14: interrupt gate */
	u16 offset_middle;
	u32 offset_high, reserved;
};
static_assert(sizeof(struct idt_gate) == 16);

struct table_register {
	u16 limit;
	u64 base;
} __packed;

#define IDT_STUB_SIZE  16
#define GATE_INTERRUPT 0x8e
#define GATE_USER      0x60 /* user mode may use it by INT n */
#define TSS_AVAILABLE  9
#define SYSCALL_MASK                                                                                       \
	(X86_EFLAGS_TF | X86_EFLAGS_IF | X86_EFLAGS_DF | X86_EFLAGS_IOPL | X86_EFLAGS_NT | X86_EFLAGS_RF | \
	 X86_EFLAGS_AC)

extern const char idt_stubs[], step_stubs[]; /* entry.S */
void step_SYSCALL_64(void);

static struct cpu_tables boot_tables;
static unsigned char boot_ist_stacks[NR_IST][IST_STACK_SIZE] __aligned(16);
/* [boot, then immutable] the same for all; the second one is for CPUs that are stepped (single_step.c) */
static struct idt_gate idt[NR_VECTORS] __aligned(PAGE_SIZE), step_idt[NR_VECTORS] __aligned(PAGE_SIZE);

/* The template's values are the boot CPU's; each other CPU's are set before it starts. */
static DEFINE_PER_CPU(struct cpu_tables *, cpu_tables) = &boot_tables;
DEFINE_PER_CPU(unsigned long, ist_stack_end[NR_IST]) = {
	[IST_DF] = (unsigned long)boot_ist_stacks[IST_DF] + IST_STACK_SIZE,
	[IST_NMI] = (unsigned long)boot_ist_stacks[IST_NMI] + IST_STACK_SIZE,
	[IST_MCE] = (unsigned long)boot_ist_stacks[IST_MCE] + IST_STACK_SIZE,
	[IST_DB] = (unsigned long)boot_ist_stacks[IST_DB] + IST_STACK_SIZE,
};
/* For SYSCALL, which switches no stack: the task's kernel stack, and room for the user's rsp. [this CPU] */
DEFINE_PER_CPU(unsigned long, kernel_stack_end);
DEFINE_PER_CPU(unsigned long, user_rsp);

/*
 * Flat 64-bit code and data, marked as accessed so that the CPU need not write to the table. At __USER32_CS,
 * which only SYSRET's arithmetic wants, there is nothing: so no program gets into 32-bit mode.
 */
static const u64 gdt_template[GDT_ENTRIES] = {
	[__KERNEL_CS / 8] = 0x00af9b000000ffff,
	[__KERNEL_DS / 8] = 0x00cf93000000ffff,
	[__USER_DS / 8] = 0x00cff3000000ffff,
	[__USER_CS / 8] = 0x00affb000000ffff,
};

/* A segment of data for user mode, not to be written, as long as the CPU's number says: for the vDSO's getcpu. */
#define CPU_SEGMENT 0x0040f50000000000

/* Write the descriptor of a TSS, which takes two slots (SDM vol. 3, figure 8-4). */
static void set_tss_descriptor(u64 *slot, const struct tss *tss)
{
	u64 base = (u64)tss;

	slot[0] = (sizeof(*tss) - 1) | (base & 0xffffff) << 16 | (u64)(0x80 | TSS_AVAILABLE) << 40 |
		  (base >> 24 & 0xff) << 56;
	slot[1] = base >> 32;
}

/* The gate of a vector. `ist`: number of a stack of its own, 0: none. `flags`: GATE_USER or 0. */
static struct idt_gate make_gate(const char *stubs, unsigned vector, unsigned ist, unsigned flags)
{
	u64 stub = (u64)stubs + vector * IDT_STUB_SIZE;

	return (struct idt_gate){
		.offset_low = stub,
		.selector = __KERNEL_CS,
		.ist = ist,
		.type = GATE_INTERRUPT | flags,
		.offset_middle = stub >> 16,
		.offset_high = stub >> 32,
	};
}

/*
 * Lead a vector to its stub. All are interrupt gates, so the CPU enters with interrupts off. What has a stack of its
 * own is not stepped: it would interrupt itself.
 */
static void set_gate(unsigned vector, unsigned ist, unsigned flags)
{
	idt[vector] = make_gate(idt_stubs, vector, ist, flags);
	step_idt[vector] = make_gate(ist ? idt_stubs : step_stubs, vector, ist, flags);
}

/*
 * User mode may raise only INT3 and INTO itself. A stack of its own have NMI, #MC and #DB, because they may come while
 * rsp is the user's (SYSCALL), and #DF, because the task's stack may be the cause.
 */
static void idt_init(void)
{
	for (unsigned v = 0; v < NR_VECTORS; v++)
		set_gate(v, 0, 0);
	set_gate(X86_TRAP_BP, 0, GATE_USER);
	set_gate(X86_TRAP_OF, 0, GATE_USER);
	set_gate(X86_TRAP_DF, IST_DF + 1, 0);
	set_gate(X86_TRAP_NMI, IST_NMI + 1, 0);
	set_gate(X86_TRAP_MC, IST_MCE + 1, 0);
	set_gate(X86_TRAP_DB, IST_DB + 1, 0);
}

notrace void cpu_set_entries(bool stepped)
{
	struct table_register idtr = {sizeof(idt) - 1, (u64)(stepped ? step_idt : idt)};

	wrmsrl(MSR_LSTAR, (u64)(stepped ? step_SYSCALL_64 : entry_SYSCALL_64));
	__asm__ volatile("lidt %0" : : "m"(idtr));
}

/*
 * Segments of the new table. A load of GS takes its base from the descriptor (0), which the per-CPU offset
 * must survive; nothing in between uses it.
 */
static void load_segments(const u64 *gdt)
{
	struct table_register gdtr = {GDT_ENTRIES * 8 - 1, (u64)gdt};
	u64 gs_base = rdmsrl(MSR_GS_BASE);

	__asm__ volatile("lgdt %0\n\t"
			 "pushq %1\n\t"
			 "leaq 1f(%%rip), %%rax\n\t"
			 "pushq %%rax\n\t"
			 "lretq\n"
			 "1:\tmovl %2, %%ss\n\t"
			 "movl %3, %%ds\n\t"
			 "movl %3, %%es\n\t"
			 "movl %3, %%fs\n\t"
			 "movl %3, %%gs"
			 :
			 : "m"(gdtr), "i"(__KERNEL_CS), "r"(__KERNEL_DS), "r"(0)
			 : "rax", "memory");
	wrmsrl(MSR_GS_BASE, gs_base);
}

/* KERNEL_GS_BASE holds user mode's base while we are in the kernel: entry.S relies on it being no kernel address. */
static void syscall_init(void)
{
	wrmsrl(MSR_FS_BASE, 0);
	wrmsrl(MSR_KERNEL_GS_BASE, 0);
	wrmsrl(MSR_STAR, (u64)__USER32_CS << 48 | (u64)__KERNEL_CS << 32);
	wrmsrl(MSR_CSTAR, 0); /* SYSCALL in 32-bit mode, which does not exist here */
	wrmsrl(MSR_SYSCALL_MASK, SYSCALL_MASK);
	wrmsrl(MSR_EFER, rdmsrl(MSR_EFER) | EFER_SCE);
}

/*
 * The order matters: the stacks before the TSS, the TSS before it is loaded, and the IDT last.
 * Until then an exception would be a reset.
 */
void cpu_desc_init(void)
{
	struct cpu_tables *t = this_cpu(cpu_tables);

	if (t == &boot_tables)
		idt_init();
	memcpy(t->gdt, gdt_template, sizeof(t->gdt));
	t->tss = (struct tss){.iomap_base = sizeof(struct tss)};
	for (unsigned i = 0; i < NR_IST; i++)
		t->tss.ist[i] = this_cpu(ist_stack_end)[i];
	set_tss_descriptor(&t->gdt[GDT_TSS / 8], &t->tss);
	t->gdt[__CPU_SEG / 8] = CPU_SEGMENT | smp_processor_id();
	load_segments(t->gdt);
	__asm__ volatile("ltr %w0" : : "r"(GDT_TSS));
	cpu_set_kernel_stack(task_stack_end(current));
	syscall_init();
	cpu_set_entries(false); /* last: from here on exceptions are ours */
}

/* Is any of these bytes on one of the CPU's own stacks, or what the handlers of NMI and #DB need first? */
static bool is_entry_memory_of(unsigned cpu, unsigned long from, unsigned long end)
{
	unsigned long task = (unsigned long)per_cpu_ptr(&current_task, cpu);

	for (unsigned i = 0; i < NR_IST; i++) {
		unsigned long stack_end = per_cpu(ist_stack_end, cpu)[i];

		if (from < stack_end && end > stack_end - IST_STACK_SIZE)
			return true;
	}
	return from < task + sizeof(void *) && end > task;
}

bool is_cpu_entry_memory(unsigned long from, unsigned long bytes)
{
	unsigned cpu;

	for_each_possible_cpu(cpu)
		if (is_entry_memory_of(cpu, from, from + bytes))
			return true;
	return false;
}

/* Tables and a stack for each IST entry. 0; -ENOMEM, and then nothing stays allocated. */
int cpu_desc_alloc(unsigned cpu)
{
	struct cpu_tables *t = kzalloc(sizeof(*t), GFP_KERNEL);
	unsigned i;

	if (!t)
		return -ENOMEM;
	for (i = 0; i < NR_IST; i++) {
		char *stack = kmalloc(IST_STACK_SIZE, GFP_KERNEL);

		if (!stack)
			goto free_stacks;
		per_cpu(ist_stack_end, cpu)[i] = (unsigned long)stack + IST_STACK_SIZE;
	}
	per_cpu(cpu_tables, cpu) = t;
	return 0;
free_stacks:
	/* No end of a stack that is gone may stay: is_cpu_entry_memory() would take its next owner for entry memory. */
	while (i--) {
		kfree((void *)(per_cpu(ist_stack_end, cpu)[i] - IST_STACK_SIZE));
		per_cpu(ist_stack_end, cpu)[i] = 0;
	}
	kfree(t);
	return -ENOMEM;
}

/*
 * Two copies: the CPU takes TSS.RSP0 for interrupts and exceptions; entry.S takes the per-CPU word for SYSCALL, as that
 * instruction does not switch stacks.
 */
notrace void cpu_set_kernel_stack(unsigned long stack_end)
{
	this_cpu(kernel_stack_end) = stack_end;
	this_cpu(cpu_tables)->tss.rsp[0] = stack_end;
}
