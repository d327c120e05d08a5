/* No variables of CPUs on the host. */
#pragma once
#include <kernel/smp.h>
