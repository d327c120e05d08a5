/* Numbers that assembly needs from C: the build turns the lines `->NAME value` into
 * <generated/asm-offsets.h>. */
#include <asm/ptrace.h>
#include <asm/thread.h>
#include <kernel/panic.h>
#include <sched/task.h>

#include "smp.h"

#define DEFINE(name, value) __asm__ volatile("\n.ascii \"->" #name " %0\"" : : "i"(value))

void asm_offsets(void);
void asm_offsets(void)
{
	/* boot/x86_head.S, boot/x86_trampoline.S */
	DEFINE(PANIC_EXIT_STATUS_ASM, PANIC_EXIT_STATUS);
	DEFINE(SECONDARY_TASK, offsetof(struct secondary_data, task));
	DEFINE(SECONDARY_PERCPU_OFFSET, offsetof(struct secondary_data, percpu_offset));
	DEFINE(SECONDARY_STACK, offsetof(struct secondary_data, stack_end));
	DEFINE(SECONDARY_CR3, offsetof(struct secondary_data, cr3));
	DEFINE(SECONDARY_CR4, offsetof(struct secondary_data, cr4));
	DEFINE(SECONDARY_EFER, offsetof(struct secondary_data, efer));
	DEFINE(SECONDARY_DATA_SIZE, sizeof(struct secondary_data));
	DEFINE(THREAD_SIZE_ASM, THREAD_SIZE);
}
