/* Calls out of the middle of inlined code, by which the code around does not change (hook.S). */
#pragma once

register unsigned long current_stack_pointer __asm__("rsp");

/*
 * CALL of a thunk, which saves every register that a C function may change. rsp as an operand makes gcc put the call
 * behind the prologue, where the function's frame record is complete; there is no red zone that the call could hit.
 */
#define arch_hook_call(thunk) __asm__ volatile("call	" #thunk : "+r"(current_stack_pointer) : : "cc", "memory")
