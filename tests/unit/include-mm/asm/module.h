/* Modules on the host, which is an x86_64. */
#include "../../../../arch/x86_64/include/asm/module.h"
