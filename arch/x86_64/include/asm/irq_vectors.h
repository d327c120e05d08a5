/*
 * The use of the 256 interrupt vectors (Intel SDM vol. 3, 6.2 for the first 32). Also read by assembly:
 * macros only.
 */
#pragma once

#define X86_TRAP_DE   0 /* divide error */
#define X86_TRAP_DB   1 /* debug */
#define X86_TRAP_NMI  2
#define X86_TRAP_BP   3 /* int3 */
#define X86_TRAP_OF   4
#define X86_TRAP_BR   5
#define X86_TRAP_UD   6 /* invalid opcode */
#define X86_TRAP_NM   7 /* device not available */
#define X86_TRAP_DF   8 /* double fault */
#define X86_TRAP_TS   10
#define X86_TRAP_NP   11
#define X86_TRAP_SS   12
#define X86_TRAP_GP   13
#define X86_TRAP_PF   14
#define X86_TRAP_MF   16 /* x87 */
#define X86_TRAP_AC   17 /* alignment */
#define X86_TRAP_MC   18 /* machine check */
#define X86_TRAP_XF   19 /* SIMD */
#define X86_TRAP_CP   21 /* control protection */
#define NR_EXCEPTIONS 32

#define LEGACY_VECTOR	   0x20 /* the two 8259s, all masked: what still comes is spurious */
#define GSI_VECTOR	   0x30 /* + global system interrupt */
#define NR_GSI_VECTORS	   (MSI_VECTOR - GSI_VECTOR)
#define MSI_VECTOR	   0xbc /* + number of a message-signalled interrupt, below LOCAL_TIMER_VECTOR */
#define NR_MSI_VECTORS	   (LOCAL_TIMER_VECTOR - MSI_VECTOR)
#define LOCAL_TIMER_VECTOR 0xdc
#define IPI_VECTOR	   0xe0 /* + enum ipi_kind */
#define TLB_VECTOR	   0xe8 /* TLB shootdown; above the other IPIs */
#define ERROR_VECTOR	   0xee
/*
 * From here on what a CPU takes that is parked while text changes (arch_parked_wait): parked_irq in entry.S, which
 * runs nothing that is ever patched. The priority class of a vector is its upper four bits.
 */
#define PARKED_CLASS	0xf
#define WAKE_VECTOR	0xf0 /* ends arch_parked_wait */
#define SPURIOUS_VECTOR 0xff /* the low four bits must be ones on old APICs (SDM 10.9) */
#define NR_VECTORS	256

/* pt_regs.vector of a system call: no interrupt has it. */
#define SYSCALL_VECTOR 0x100
