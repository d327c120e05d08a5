/* The system's names. */
#ifndef VT_SYS_UTSNAME_H
#define VT_SYS_UTSNAME_H

struct utsname {
	char sysname[65];
	char nodename[65];
	char release[65];
	char version[65];
	char machine[65];
	char domainname[65];
};

/* Returns 0, or -1 with errno. */
int uname(struct utsname *names);

#endif
