/* The name that Linux has for it. */
#pragma once

#include <linux/interrupt.h>
