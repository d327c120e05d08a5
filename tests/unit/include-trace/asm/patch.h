/* One machine's declarations, as good as the other's; the test is the text. */
#pragma once
#include "../../../../arch/aarch64/include/asm/patch.h"
