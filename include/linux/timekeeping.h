/* Clocks. */
#pragma once

#include <linux/ktime.h>
