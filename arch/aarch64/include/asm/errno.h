/* The name that Linux has for it. */
#pragma once

#include <lib/errno.h>
