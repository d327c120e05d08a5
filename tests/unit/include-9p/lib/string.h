/* The host's. */
#pragma once

#include <lib/types.h>
