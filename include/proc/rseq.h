/* Restartable sequences (rseq(2)). */
#pragma once

struct pt_regs;

/* What the auxiliary vector says of struct rseq: the bytes of it that are in use, and how it must be aligned. */
#define RSEQ_FEATURE_SIZE 28
#define RSEQ_ALIGN	  32

/*
 * Before the current task goes on in user mode, on another CPU perhaps, or enters a signal handler: abort the sequence
 * that it is in, and write down the number of its CPU. `regs` are those that it goes on with. SIGSEGV for a description
 * that makes no sense. Thread context; touches user memory.
 */
void rseq_resume(struct pt_regs *regs);
