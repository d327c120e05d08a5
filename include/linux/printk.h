/* Messages. */
#pragma once

#include <kernel/printk.h>
