/* For the host's Linux too, whose calls have these numbers: under the names that our kernel has for them. */
#include "../../../../userland/include/sys/syscall.h"
