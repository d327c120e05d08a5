/* Functions that entry.S calls and that the files of the machine layer share. */
#pragma once

#include <kernel/extable.h>
#include <lib/types.h>

struct pt_regs;
struct task_struct;

/* From entry.S: interrupts off on entry and on return. */
void el0_svc(struct pt_regs *regs);
void el0t_64_sync_handler(struct pt_regs *regs, u64 esr, u64 far);
void el0t_64_irq_handler(struct pt_regs *regs);
void el1h_64_sync_entry(struct pt_regs *regs, u64 esr, u64 far);
void el1h_64_irq_handler(struct pt_regs *regs);
/* Breakpoint, watchpoint or software step of the kernel (<arch/debug_ops.h>); debug exceptions stay masked. */
void el1h_64_debug_handler(struct pt_regs *regs, u64 esr, u64 far);
/* An FIQ; everything else is masked but SErrors (nmi.c). */
void fiq_handler(struct pt_regs *regs);
void bad_mode(struct pt_regs *regs, unsigned reason, u64 esr);
void handle_bad_stack(struct pt_regs *regs, u64 esr, u64 far) __noreturn;
void ret_from_fork(void);

/* Translation, permission, alignment and other aborts. Interrupts as they were in the interrupted context. */
void do_mem_abort(u64 far, u64 esr, struct pt_regs *regs);
/* PAN (pan.c): the boot CPU, before it touches user memory and alone; and each other CPU. Interrupts off. */
void pan_init(void);
void pan_init_cpu(void);
/* Was user memory out of bounds for the kernel code that these are the registers of? */
bool pan_violation(const struct pt_regs *regs);
/* Text for an exception class. */
const char *esr_class_name(u64 esr);

/* FP/SIMD (fpsimd.c). Interrupts off. */
void do_fpsimd_acc(void);
void fpsimd_switch(struct task_struct *prev, struct task_struct *next);
/* current's registers into current->thread.fpsimd, which is then valid. Thread context. */
void fpsimd_preserve(void);
/* current->thread.fpsimd was written: it is what counts now. Thread context. */
void fpsimd_reload(void);
void fpsimd_forget_cpu(void); /* a CPU starts: its registers are no task's. Not traced */
/* fpsimd_asm.S */
struct user_fpsimd;
void fpsimd_save_state(struct user_fpsimd *to);
void fpsimd_load_state(const struct user_fpsimd *from);
