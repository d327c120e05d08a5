/* Device registers: one access each, ordered against normal memory (the _relaxed ones only against the same device). */
#pragma once

#include <asm/barrier.h>
#include <lib/types.h>

static __always_inline u32 readl_relaxed(const void *p)
{
	u32 v;

	__asm__ volatile("ldr %w0, [%1]" : "=r"(v) : "r"(p));
	return v;
}
static __always_inline void writel_relaxed(u32 v, void *p)
{
	__asm__ volatile("str %w0, [%1]" : : "rZ"(v), "r"(p));
}
static __always_inline u64 readq_relaxed(const void *p)
{
	u64 v;

	__asm__ volatile("ldr %0, [%1]" : "=r"(v) : "r"(p));
	return v;
}
static __always_inline void writeq_relaxed(u64 v, void *p)
{
	__asm__ volatile("str %x0, [%1]" : : "rZ"(v), "r"(p));
}
static __always_inline u8 readb_relaxed(const void *p)
{
	u32 v;

	__asm__ volatile("ldrb %w0, [%1]" : "=r"(v) : "r"(p));
	return v;
}
/* What the device told comes before what is read from memory next. */
static __always_inline u32 readl(const void *p)
{
	u32 v = readl_relaxed(p);

	dmb(oshld);
	return v;
}
static __always_inline u8 readb(const void *p)
{
	u8 v = readb_relaxed(p);

	dmb(oshld);
	return v;
}
/* What was written to memory comes before what the device is told. */
static __always_inline void writel(u32 v, void *p)
{
	dmb(oshst);
	writel_relaxed(v, p);
}
