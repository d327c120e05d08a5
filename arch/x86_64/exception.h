/* Functions that entry.S calls and that the files of the machine layer share. */
#pragma once

#include <kernel/extable.h>
#include <lib/types.h>

struct pt_regs;
struct task_struct;

/* From entry.S: interrupts off on entry and on return. */
void do_syscall_64(struct pt_regs *regs);
void exc_handler(struct pt_regs *regs);	       /* vectors 0 to 31 but the four below */
void interrupt_handler(struct pt_regs *regs);  /* vectors 32 to 239 */
void parked_irq_handler(struct pt_regs *regs); /* vectors 240 to 255: text may be changing (drivers/irqchip/lapic.c) */
bool debug_handler(struct pt_regs *regs);      /* #DB of the kernel, own stack; interrupts anything. True: an NMI */
void nmi_handler(struct pt_regs *regs);	       /* own stack; may interrupt anything: no locks of others */
void double_fault_handler(struct pt_regs *regs) __noreturn;
void machine_check_handler(struct pt_regs *regs) __noreturn;
void ret_from_fork(void);
void entry_SYSCALL_64(void);

/* Error code of #PF (SDM vol. 3, 4.7). */
#define PF_PROT	 (1 << 0) /* the page is there, but not for this */
#define PF_WRITE (1 << 1)
#define PF_USER	 (1 << 2)
#define PF_RSVD	 (1 << 3) /* a reserved bit was set in an entry */
#define PF_INSTR (1 << 4)
/* #PF (fault.c); address is CR2, error_code as pushed. Interrupts as they were in the interrupted context. */
void exc_page_fault(struct pt_regs *regs, u64 error_code, u64 address);
/*
 * The source of samples (drivers/timer/sampler). While it is on, an NMI of unknown reason is a sample, which is taken
 * only when NMIs are served in full (kernel/nmi.c); at the end of every NMI the next one is made ready. NMI context;
 * `running` and `done` lie in .noinstr.text.
 */
struct sample_nmi {
	bool (*running)(void);
	void (*handle)(unsigned cpu, const struct pt_regs *regs);
	void (*done)(void);
};
extern const struct sample_nmi *sample_nmi; /* [boot, then immutable] NULL: there is no such source */
/* Text for a vector. */
const char *exception_name(u64 vector);

/*
 * Descriptor tables, TSS, IST stacks, SYSCALL MSRs of this CPU (desc.c); the boot CPU's from x86_boot(), others' from
 * secondary_cpu_init.
 */
void cpu_desc_init(void);
/* Exceptions, interrupts and SYSCALL of this CPU enter by step_stubs (entry.S), or as usual. Interrupts off. */
void cpu_set_entries(bool stepped);
/*
 * Is one of the bytes from `from` on in what #DB and NMI need before they can hold breakpoints back: their stacks, the
 * pointer to the current task, of any CPU? Any context.
 */
bool is_cpu_entry_memory(unsigned long from, unsigned long bytes);
/* Room for those of another CPU, before it starts. 0 or -ENOMEM. Thread context. */
int cpu_desc_alloc(unsigned cpu);

/* In arch_cpu_idle and in arch_parked_wait: the address of its HLT, and of what follows that. */
extern const unsigned long idle_hlt[2], parked_hlt[2];

/* FPU/SSE/AVX (fpu.c). */
void fpu_init(void);	 /* boot CPU: which state there is, how large; before the first user task */
void fpu_init_cpu(void); /* each CPU: CR0, CR4, XCR0 */
/* In arch_thread_switch. Interrupts off. */
void fpu_switch(struct task_struct *prev, struct task_struct *next);
/* current's registers into current->thread.fpu, which is then valid. Thread context. */
void fpu_preserve(void);
/* current->thread.fpu was written: it is what counts now. Thread context. */
void fpu_reload(void);
/* fork: child gets current's state; false in `user`: a kernel thread's fresh state. exec: fresh. */
void fpu_copy(struct task_struct *child, bool user);
void fpu_flush(struct task_struct *task);
