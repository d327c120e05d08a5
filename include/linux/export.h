/* The name that Linux has for it. */
#pragma once

#include <kernel/export.h>
