/* Texts and memory. */
#pragma once

#include <lib/string.h>
