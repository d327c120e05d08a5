/* Device registers on the host: each access is a call of the test's model of the device. */
#pragma once

#include <lib/types.h>

/* The test's own. `port`: I/O port, or for memory the pointer's value. */
u8 host_in(unsigned long port);
void host_out(unsigned long port, u8 v);

static inline u8 inb(u16 port)
{
	return host_in(port);
}
static inline void outb(u8 v, u16 port)
{
	host_out(port, v);
}
static inline u8 readb(const void *p)
{
	return host_in((unsigned long)p);
}
static inline void writeb(u8 v, void *p)
{
	host_out((unsigned long)p, v);
}
