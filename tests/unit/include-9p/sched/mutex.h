/* Mutexes of a test with one thread. */
#pragma once

#define DEFINE_MUTEX(n) bool n
#define mutex_lock(m)	((void)(m))
#define mutex_unlock(m) ((void)(m))
