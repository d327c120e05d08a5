/* Pieces of memory. */
#pragma once

#include <uapi/uio.h>
