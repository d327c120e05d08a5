/* What a deadline task asks for. */
#pragma once

#include <lib/types.h>

struct dl_params {
	u64 runtime;  /* ns of CPU in each period */
	u64 deadline; /* ns after a period's beginning by which it has had them; runtime..period */
	u64 period;   /* ns */
};
