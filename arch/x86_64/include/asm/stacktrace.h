/* Frames of this machine; what is asked of every machine stands in <arch/stacktrace.h>. */
#pragma once

/* Frame records are the far end of their frame, next to the return address: what is below is the same function's. */
#define FRAME_RECORD_AT_END 1
