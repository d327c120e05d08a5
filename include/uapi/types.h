/*
 * Integers of a fixed width for the headers of the user ABI. Programs include those headers too, so they use no name
 * that a program could have for itself (Linux's names). The kernel's u8 ... s64 are the same types.
 */
#pragma once

#include <stdint.h>

typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int16_t __s16;
typedef int32_t __s32;
typedef int64_t __s64;
