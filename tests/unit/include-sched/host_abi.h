/* Structures of the ABI that the host has as well: from here on these names are the kernel's. */
#pragma once

#include <pthread.h>
#include <semaphore.h>

#define sigset_t  k_sigset_t
#define timespec  k_timespec
#define timeval	  k_timeval
#define itimerval k_itimerval
