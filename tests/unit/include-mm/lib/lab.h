/* A lab's stubs: as in the tests of tests/unit/include. */
#pragma once

#include "../../include/lib/lab.h"
