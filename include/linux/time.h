/* Clocks and their units. */
#pragma once

#include <linux/ktime.h>
#include <uapi/time.h>
