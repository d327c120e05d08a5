/* Interrupts that only remember whether they are off. */
#pragma once

#include "../../include-mm/asm/irqflags.h"
