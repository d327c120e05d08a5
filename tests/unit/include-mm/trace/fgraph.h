/* On the host no return is hooked. */
#pragma once

#define TRUE_RET_ADDR() ((unsigned long)__builtin_return_address(0))
