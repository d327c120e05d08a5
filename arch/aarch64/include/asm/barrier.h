/* Barriers that devices, page tables and the instruction stream need (Arm ARM B2.3); atomics need none of these. */
#pragma once

#define isb()	 __asm__ volatile("isb" : : : "memory")
#define dsb(opt) __asm__ volatile("dsb " #opt : : : "memory")
#define dmb(opt) __asm__ volatile("dmb " #opt : : : "memory")
