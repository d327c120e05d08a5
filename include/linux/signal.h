/* Signals, as far as a sleeping module asks for them. */
#pragma once

#include <linux/sched.h>
