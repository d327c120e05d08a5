/*
 * The map of a histogram: from a key of whole words to an element, filled by probes of all CPUs at once without a lock.
 * It knows nothing of events: a unit test builds it on the host.
 */
#pragma once

#include <lib/types.h>

#define HIST_MAP_BITS_MIN     7
#define HIST_MAP_BITS_DEFAULT 11
#define HIST_MAP_BITS_MAX     17
#define HIST_NEST_MAX	      8 /* hits that can be under way on a CPU, one on top of the other */

/* Locks: c its CPU, at this level of nesting; a atomic. */
struct hist_map_cpu {
	u64 hits, drops; /* [a] */
	u32 in_hand
		[HIST_NEST_MAX]; /* [c] number + 1 of an element that this CPU fills and nobody else knows; 0: none */
} __attribute__((aligned(64)));

/* Locks: a atomic; I immutable. Memory of the elements and slots: see map.c. */
struct hist_map {
	unsigned bits;		   /* [I] it takes 1 << bits keys */
	unsigned key_size;	   /* [I] bytes, whole words */
	unsigned elt_size;	   /* [I] bytes: the key, and the user's data behind it */
	unsigned nr_cpus;	   /* [I] */
	u32 entries;		   /* [a] keys that are there, or are being inserted */
	u32 next;		   /* [a] elements from here on were never used */
	u64 *slots;		   /* [a] twice as many as keys: 0, or hash << 32 | number of the element + 1 */
	char *elts;		   /* an element is written by the CPU that has it in hand, then by atomic operations */
	struct hist_map_cpu *cpus; /* [I] */
};

/* NULL: out of memory. An element's data is zeroed. Thread context. */
struct hist_map *hist_map_create(unsigned bits, unsigned key_size, unsigned data_size, unsigned nr_cpus);
void hist_map_free(struct hist_map *map);
/*
 * The element of this key, whose data begins behind the key; inserted if it is new, and then *fresh is true. NULL:
 * there is no room. One hit is counted, or one drop. Any context with preemption off, on CPU `cpu`, as the only user of
 * this level of nesting there.
 */
void *hist_map_insert(struct hist_map *map, const void *key, unsigned cpu, unsigned depth, bool *fresh);
/*
 * The same for a key of one word that is there, in the slot that its hash says; the hit is counted. NULL: it is not,
 * nothing is counted, and hist_map_insert must be asked. Any context with preemption off, on CPU `cpu`.
 */
void *hist_map_hit_number(struct hist_map *map, u64 key, unsigned cpu);
/* The element of this key, or NULL. Any context. */
void *hist_map_find(const struct hist_map *map, const void *key);
/* A hit that has found no level of nesting. */
void hist_map_drop(struct hist_map *map, unsigned cpu);
/* No hit may be under way. Thread context. */
void hist_map_clear(struct hist_map *map);

/* For readers, while hits go on: the totals of all CPUs, and the element of a slot or NULL. Slots: 2 << bits. */
u64 hist_map_hits(const struct hist_map *map);
u64 hist_map_drops(const struct hist_map *map);
void *hist_map_slot(const struct hist_map *map, unsigned slot);
