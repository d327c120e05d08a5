/* Units of time. */
#pragma once

#include <linux/ktime.h>
