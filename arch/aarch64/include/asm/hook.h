/* Calls out of the middle of inlined code, by which the code around does not change (hook.S). */
#pragma once

/*
 * BL to a thunk, which saves every register that a C function may change. Only the link register goes, and since the
 * prologue has saved it, the frame record of the function is complete here.
 */
#define arch_hook_call(thunk) __asm__ volatile("bl	" #thunk : : : "x30", "cc", "memory")
