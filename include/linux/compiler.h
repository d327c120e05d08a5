/* What the compiler is told. */
#pragma once

#include <lib/types.h>
