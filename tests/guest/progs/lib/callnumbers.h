/* Numbers of every system call that the kernel has, SYS_<name>, from its own table; and calls by name. */
#ifndef CALLNUMBERS_H
#define CALLNUMBERS_H

#include <check.h>

#define SYSCALL(nr, name, nargs) SYS_##name = (nr),
enum {
#ifdef __aarch64__
#include "../../../../arch/aarch64/include/asm/syscall_table.h"
#else
#include "../../../../arch/x86_64/include/asm/syscall_table.h"
#endif
};
#undef SYSCALL

/* CALL(name, arguments...): at least one argument; -1 with errno as usual. */
#define CALL(name, ...) CALL_6(SYS_##name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_6(nr, a, b, c, d, e, f, ...) \
	check_syscall(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* For good: a user without rights, with this number for user and group and no further groups. */
static inline void become_user(unsigned id)
{
	if (CALL(setgroups, 0, 0) || CALL(setresgid, id, id, id) || CALL(setresuid, id, id, id))
		vt_die_errno(2, "becoming a user");
}

#endif
