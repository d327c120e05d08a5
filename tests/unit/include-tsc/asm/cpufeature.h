/* x86's, whichever machine the test runs on. */
#pragma once

#include "../../../../arch/x86_64/include/asm/cpufeature.h"
