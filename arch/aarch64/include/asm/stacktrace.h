/* Frames of this machine; what is asked of every machine stands in <arch/stacktrace.h>. */
#pragma once

/* Frame records are the near end of their frame: what is above them is the same function's. */
#define FRAME_RECORD_AT_END 0
