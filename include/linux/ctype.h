/* The name that Linux has for it. */
#pragma once

#include <lib/string.h>
