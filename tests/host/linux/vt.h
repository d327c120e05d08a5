/* <vt.h> for a guest's test program that is built for the host: libvt's own declarations over the host's C library. */
#ifndef LINUX_VT_H
#define LINUX_VT_H

#include "../../../userland/include/vt.h"

/* Output without floating point has names of its own in newlib. Here the usual ones do it. */
#undef printf
#undef fprintf
#undef sprintf
#undef snprintf
#define sniprintf  snprintf
#define vsniprintf vsnprintf

#endif
