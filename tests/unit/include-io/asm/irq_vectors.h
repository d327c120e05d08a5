/* x86's numbers of vectors, whichever machine the test runs on. */
#pragma once

#include "../../../../arch/x86_64/include/asm/irq_vectors.h"
