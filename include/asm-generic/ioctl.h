/* The name that Linux has for it. */
#pragma once

#include <uapi/ioctl.h>
