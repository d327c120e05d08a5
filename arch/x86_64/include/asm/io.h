/*
 * Device registers and I/O ports: one access each. Device memory is mapped uncached: its accesses stay in
 * order among themselves and with normal memory as far as the compiler leaves them there (SDM vol. 3, 8.2.2),
 * so readl and writel cost no more than the _relaxed ones, which the compiler alone may move against other
 * memory.
 */
#pragma once

#include <asm/barrier.h>
#include <lib/types.h>

#define __DEVICE_ACCESS(suffix, type, insn, reg, clobber...)                                 \
	static __always_inline type read##suffix(const void *p)                              \
	{                                                                                    \
		type v;                                                                      \
                                                                                             \
		__asm__ volatile(insn " %1, %0" : reg(v) : "m"(*(const type *)p) : clobber); \
		return v;                                                                    \
	}                                                                                    \
	static __always_inline void write##suffix(type v, void *p)                           \
	{                                                                                    \
		__asm__ volatile(insn " %1, %0" : "=m"(*(type *)p) : "r"(v) : clobber);      \
	}
__DEVICE_ACCESS(b, u8, "movb", "=q", "memory")
__DEVICE_ACCESS(w, u16, "movw", "=r", "memory")
__DEVICE_ACCESS(l, u32, "movl", "=r", "memory")
__DEVICE_ACCESS(q, u64, "movq", "=r", "memory")
__DEVICE_ACCESS(l_relaxed, u32, "movl", "=r")
__DEVICE_ACCESS(q_relaxed, u64, "movq", "=r")

/* I/O ports: strictly in order with everything (SDM vol. 1, 19.6). in*(port), out*(value, port). */
#define __PORT_ACCESS(suffix, type)                                                          \
	static __always_inline type in##suffix(u16 port)                                     \
	{                                                                                    \
		type v;                                                                      \
                                                                                             \
		__asm__ volatile("in" #suffix " %1, %0" : "=a"(v) : "Nd"(port) : "memory");  \
		return v;                                                                    \
	}                                                                                    \
	static __always_inline void out##suffix(type v, u16 port)                            \
	{                                                                                    \
		__asm__ volatile("out" #suffix " %0, %1" : : "a"(v), "Nd"(port) : "memory"); \
	}
__PORT_ACCESS(b, u8)
__PORT_ACCESS(w, u16)
__PORT_ACCESS(l, u32)
