/* The version of Linux that this kernel answers for (uname -r). */
#pragma once

#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE	KERNEL_VERSION(6, 12, 0)
