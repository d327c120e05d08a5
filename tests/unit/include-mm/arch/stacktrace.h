/* No stack is walked here. */
#pragma once
#define arch_caller_fp() ((unsigned long)__builtin_frame_address(0))
