/* What wait4(2) and waitid(2) tell of a child that has stopped or goes on. */
#pragma once

#include <lib/types.h>
#include <uapi/wait.h>

#define W_STOPPED(sig) (((sig) << 8) | 0x7f)
#define W_CONTINUED    0xffff
