/* Numbers of commands for ioctl(2): which way data goes, how many bytes, whose, and which. */
#pragma once

#include <uapi/ioctl.h>
