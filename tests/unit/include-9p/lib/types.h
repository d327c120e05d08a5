/* The kernel's types behind the host's headers, so that a test may begin with any kernel header. */
#pragma once

#include "../../include-mm/host_test.h"
#include_next <lib/types.h>
