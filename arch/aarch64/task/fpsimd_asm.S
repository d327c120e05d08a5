/*
 * Moving the FP/SIMD registers (V0-V31, FPSR, FPCR) to and from memory. EL1 may always use them, EL0 by CPACR_EL1.
 *
 * struct user_fpsimd, which is also what ptrace and signal frames show:
 *
 *     |  Q0, Q1, ... Q31     16 bytes each                |    0 to 511
 *     |  FPSR                exceptions, saturation       |  512, FPSIMD_FPSR
 *     |  FPCR                rounding, flush to zero      |  516
 *
 * The kernel itself is built without FP instructions (-mgeneral-regs-only), so between a program's entry and its next
 * turn the registers keep its values whoever runs in the kernel. Context of both functions: interrupts or preemption
 * are off, so that the registers are those of the task that the caller means (fpsimd.c).
 */
#include <asm/assembler.h>
#include <generated/asm-offsets.h>

	.text
/*
 * void fpsimd_save_state(struct user_fpsimd *to): 16 pairs at offset 0, the two control words behind them. Reads the
 * registers only: they stay valid, and a task that comes back to this CPU first need not load them again.
 */
FUNC fpsimd_save_state
	stp	q0, q1, [x0, #16 * 0]
	stp	q2, q3, [x0, #16 * 2]
	stp	q4, q5, [x0, #16 * 4]
	stp	q6, q7, [x0, #16 * 6]
	stp	q8, q9, [x0, #16 * 8]
	stp	q10, q11, [x0, #16 * 10]
	stp	q12, q13, [x0, #16 * 12]
	stp	q14, q15, [x0, #16 * 14]
	stp	q16, q17, [x0, #16 * 16]
	stp	q18, q19, [x0, #16 * 18]
	stp	q20, q21, [x0, #16 * 20]
	stp	q22, q23, [x0, #16 * 22]
	stp	q24, q25, [x0, #16 * 24]
	stp	q26, q27, [x0, #16 * 26]
	stp	q28, q29, [x0, #16 * 28]
	stp	q30, q31, [x0, #16 * 30]
	/* STP reaches 63 words at most, less than 512 bytes: so the control words need a base of their own. */
	mrs	x1, fpsr
	mrs	x2, fpcr
	add	x0, x0, #FPSIMD_FPSR
	stp	w1, w2, [x0]
	ret
FUNC_END fpsimd_save_state

/*
 * void fpsimd_load_state(const struct user_fpsimd *from): all of the state, and so nothing of the last owner is left.
 * Bits that FPCR or FPSR do not have are ignored or kept by the CPU: a program may have put any into its signal frame.
 */
FUNC fpsimd_load_state
	ldp	q0, q1, [x0, #16 * 0]
	ldp	q2, q3, [x0, #16 * 2]
	ldp	q4, q5, [x0, #16 * 4]
	ldp	q6, q7, [x0, #16 * 6]
	ldp	q8, q9, [x0, #16 * 8]
	ldp	q10, q11, [x0, #16 * 10]
	ldp	q12, q13, [x0, #16 * 12]
	ldp	q14, q15, [x0, #16 * 14]
	ldp	q16, q17, [x0, #16 * 16]
	ldp	q18, q19, [x0, #16 * 18]
	ldp	q20, q21, [x0, #16 * 20]
	ldp	q22, q23, [x0, #16 * 22]
	ldp	q24, q25, [x0, #16 * 24]
	ldp	q26, q27, [x0, #16 * 26]
	ldp	q28, q29, [x0, #16 * 28]
	ldp	q30, q31, [x0, #16 * 30]
	add	x0, x0, #FPSIMD_FPSR
	ldp	w1, w2, [x0]
	msr	fpsr, x1			/* status bits that are set raise nothing by being loaded */
	msr	fpcr, x2
	ret
FUNC_END fpsimd_load_state
