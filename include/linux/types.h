/* Types. */
#pragma once

#include <lib/types.h>
#include <uapi/types.h>
