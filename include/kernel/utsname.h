/* The system's name and version, as uname(2) and /proc/version tell them. */
#pragma once

#include <lib/types.h>

#define UTS_SYSNAME "Vitrine"
#define UTS_RELEASE "6.12.0-vitrine"
#define UTS_VERSION "#1 SMP PREEMPT"
#define UTS_LEN	    65 /* bytes of a field with its zero: __NEW_UTS_LEN + 1 */

/* As uname(2) passes it. */
struct new_utsname {
	char sysname[UTS_LEN], nodename[UTS_LEN], release[UTS_LEN], version[UTS_LEN], machine[UTS_LEN];
	char domainname[UTS_LEN];
};
/* A copy of the present names. Thread context. */
void get_utsname(struct new_utsname *name);
