/* Errors in pointers: ERR_PTR(), IS_ERR(), PTR_ERR(). */
#pragma once

#include <lib/errno.h>

#define PTR_ERR_OR_ZERO(ptr) (IS_ERR(ptr) ? (int)PTR_ERR(ptr) : 0)
#define IS_ERR_OR_NULL(ptr)  (!(ptr) || IS_ERR(ptr))
