/* Random bytes for AT_RANDOM, getrandom(2) and /dev/urandom. */
#pragma once

#include <lib/types.h>

/*
 * ChaCha20 keyed from the machine's counter at unpredictable moments, and from what firmware (random_init) and a
 * virtio device (drivers/virtio/virtio_rng.c) give. Where neither gives anything this is as good as the jitter of
 * interrupts, and under icount it repeats with the run. Any context but nmi.
 */
void get_random_bytes(void *buf, size_t n);
/* Stir bytes into the key: what is written to /dev/urandom. Any context but nmi. */
void add_random_seed(const void *seed, size_t n);
void random_init(void); /* boot: stir in what firmware has given, and forget that */

/* What the generator's pool holds, as programs see it: all that it can, since it never waits to be filled. */
#define RANDOM_POOL_BITS 256
