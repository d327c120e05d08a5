/* System calls by their names: CALL(name, arguments...). */
#ifndef CALLNUMBERS_H
#define CALLNUMBERS_H

#include <check.h>
#include <sys/syscall.h>

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
