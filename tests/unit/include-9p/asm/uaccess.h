/* User memory is the test's, of which a part may be missing. */
#pragma once

#include <lib/types.h>

unsigned long copy_from_user(void *to, const void *from, unsigned long n);
