/* Programs that the kernel starts. */
#pragma once

#include <proc/umh.h>
