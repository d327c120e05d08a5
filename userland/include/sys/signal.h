/* The same as <signal.h>. */
#ifndef VT_SYS_SIGNAL_H
#define VT_SYS_SIGNAL_H

#include <signal.h>

#endif
