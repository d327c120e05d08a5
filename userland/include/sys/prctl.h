/* What a process asks for itself. */
#ifndef VT_SYS_PRCTL_H
#define VT_SYS_PRCTL_H

#define PR_SET_PDEATHSIG 1  /* a: the signal that comes when the parent ends; 0: none */
#define PR_GET_PDEATHSIG 2  /* a: an int's address */
#define PR_SET_NAME	 15 /* a: a text, of which 15 bytes count */
#define PR_GET_NAME	 16 /* a: 16 bytes */

/* Returns 0, or -1 with errno. */
int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d);

#endif
