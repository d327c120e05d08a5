/* Bits. */
#pragma once

#include <lib/atomic.h>
#include <lib/bitmap.h>
