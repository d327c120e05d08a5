/* The C library's string functions are the host's. */
#pragma once

#include <string.h>
