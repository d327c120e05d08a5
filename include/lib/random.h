/* Pseudo-random numbers: for tests, hash seeds, AT_RANDOM; not for secrets. */
#pragma once

#include <lib/types.h>

void get_random_bytes(void *buf, size_t n);          /* thread context */
void add_random_seed(const void *seed, size_t n);    /* boot (the FDT's rng-seed), thread */
