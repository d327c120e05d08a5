/*
 * System calls. A call is defined where it belongs with SYSCALL_DEFINEn(name, type, arg, ...), and has one line with
 * its numbers in include/uapi/syscall.tbl. Types and names of its arguments are Linux's, since its events show them.
 * tools/syscall_table.py makes <generated/syscall_table.h> of both, with a line for each call of the machine.
 */
#pragma once

#include <lib/errno.h>
#include <lib/types.h>

struct pt_regs;
typedef long (*syscall_fn_t)(unsigned long, unsigned long, unsigned long, unsigned long, unsigned long, unsigned long);

/* Their numbers on this machine, in order, and how far these go. */
#define SYSCALL(nr, name, ...) __NR_##name = (nr),
enum {
#include <generated/syscall_table.h>
	NR_SYSCALLS
};
#undef SYSCALL

/* personality(2), for machines that have a name of their own for it. The bits before. */
long ksys_personality(unsigned persona);

extern const syscall_fn_t sys_call_table[]; /* NR_SYSCALLS; those in between that are no calls have sys_ni_syscall */
/* Counts in /proc/unknown_syscalls that there was such a number. -ENOSYS. */
long sys_ni_syscall(unsigned long a, unsigned long b, unsigned long c, unsigned long d, unsigned long e,
		    unsigned long f);

/*
 * The function sys_<name> takes its arguments with their own types; the table entry __se_sys_<name> takes six
 * registers. Linux's traces show __arm64_sys_read and ksys_read; ours show sys_read and what it calls.
 * The C call passes each argument in its own register on both machines, so sys_<name> itself goes into the table.
 */
#define __SC_LONG(t, a) unsigned long a
#define __SC_CAST(t, a) (t) a
#define __SC_DECL(t, a) t a
#define __MAP0(m, ...)
#define __MAP1(m, t, a, ...) m(t, a)
#define __MAP2(m, t, a, ...) m(t, a), __MAP1(m, __VA_ARGS__)
#define __MAP3(m, t, a, ...) m(t, a), __MAP2(m, __VA_ARGS__)
#define __MAP4(m, t, a, ...) m(t, a), __MAP3(m, __VA_ARGS__)
#define __MAP5(m, t, a, ...) m(t, a), __MAP4(m, __VA_ARGS__)
#define __MAP6(m, t, a, ...) m(t, a), __MAP5(m, __VA_ARGS__)
#define __MAP(n, ...)	     __MAP##n(__VA_ARGS__)

#define __SYSCALL_DEFINE(n, name, ...)                                    \
	static long __do_sys_##name(__MAP(n, __SC_DECL, __VA_ARGS__));    \
	long sys_##name(__MAP(n, __SC_LONG, __VA_ARGS__));                \
	long sys_##name(__MAP(n, __SC_LONG, __VA_ARGS__))                 \
	{                                                                 \
		return __do_sys_##name(__MAP(n, __SC_CAST, __VA_ARGS__)); \
	}                                                                 \
	static __always_inline long __do_sys_##name(__MAP(n, __SC_DECL, __VA_ARGS__))
#define SYSCALL_DEFINE0(name)  \
	long sys_##name(void); \
	long sys_##name(void)
#define SYSCALL_DEFINE1(name, ...) __SYSCALL_DEFINE(1, name, __VA_ARGS__)
#define SYSCALL_DEFINE2(name, ...) __SYSCALL_DEFINE(2, name, __VA_ARGS__)
#define SYSCALL_DEFINE3(name, ...) __SYSCALL_DEFINE(3, name, __VA_ARGS__)
#define SYSCALL_DEFINE4(name, ...) __SYSCALL_DEFINE(4, name, __VA_ARGS__)
#define SYSCALL_DEFINE5(name, ...) __SYSCALL_DEFINE(5, name, __VA_ARGS__)
#define SYSCALL_DEFINE6(name, ...) __SYSCALL_DEFINE(6, name, __VA_ARGS__)
