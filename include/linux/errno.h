/* Errors. */
#pragma once

#include <lib/errno.h>
