/* Device registers on the host: each access is a call of the test's model of the device. */
#pragma once

#include <lib/types.h>

/* The test's own. `port`: I/O port, or for memory the pointer's value. */
u8 host_in(unsigned long port);
void host_out(unsigned long port, u8 v);
/* Of tests whose driver has wider ports. */
u16 host_in16(unsigned port);
void host_out16(unsigned port, u16 v);
u32 host_in32(unsigned port);
void host_out32(unsigned port, u32 v);

static inline u8 inb(u16 port)
{
	return host_in(port);
}
static inline void outb(u8 v, u16 port)
{
	host_out(port, v);
}
static inline u16 inw(u16 port)
{
	return host_in16(port);
}
static inline void outw(u16 v, u16 port)
{
	host_out16(port, v);
}
static inline u32 inl(u16 port)
{
	return host_in32(port);
}
static inline void outl(u32 v, u16 port)
{
	host_out32(port, v);
}
static inline u8 readb(const void *p)
{
	return host_in((unsigned long)p);
}
static inline void writeb(u8 v, void *p)
{
	host_out((unsigned long)p, v);
}
