/* Where memory may come from. */
#pragma once

#include <mm/gfp.h>

#define GFP_NOWAIT GFP_ATOMIC
#define GFP_NOIO   GFP_KERNEL /* there is no swap: reclaim does no input or output */
#define GFP_NOFS   GFP_KERNEL
