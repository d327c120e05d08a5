/*
 * The map of a histogram.
 *
 * A fixed array of slots is searched from the place that the key's hash says, slot by slot, until the key is found or a
 * slot is free. There are twice as many slots as keys, so a free one is near. Nothing is ever taken out; hist_map_clear
 * empties the whole while no hit is under way.
 *
 * Why hits need no lock.
 *
 * A slot is one word: 0, or a part of the hash together with the number of an element. A new key is inserted in three
 * steps. The CPU takes an element that nobody else knows, writes the key into it, and puts its number into the free
 * slot by one compare-and-exchange with release order. So a CPU that reads the number, with acquire order, finds the
 * whole key. There is no half-made slot that anybody would have to wait for: a hit in an interrupt or an NMI never
 * spins on the code that it has interrupted.
 *
 * Two CPUs may insert the same key at the same time. Both look at the same slots in the same order, and a slot that is
 * not free never changes, so both reach the same free slot, and one exchange succeeds. The other CPU reads that slot
 * again, finds the key, and uses that element. Its own element stays in its hand for the next new key: each level of
 * nesting on each CPU has a hand of its own, since code that interrupts an insertion uses the next level.
 *
 * Elements are never short. Those in slots are at most `entries`, which is raised before an element is taken and
 * lowered when the exchange has failed, and never above the size of the map; those in hands are at most one for each
 * level of each CPU. There is memory for both together. While the last place is being fought for, a third CPU may find
 * the map full although the loser gives its claim back at once; the hit that meets this moment is counted as dropped.
 *
 * After its insertion an element is changed by atomic additions and stores alone (hit.c), so hits + drops is what the
 * event told, and the sum of an element's hitcounts is hits.
 */
#include "map.h"

#include <lib/atomic.h>
#include <lib/hash.h>
#include <lib/string.h>
#include <mm/slab.h>

static unsigned nr_slots(const struct hist_map *map)
{
	return 2u << map->bits;
}

static unsigned nr_elts(const struct hist_map *map)
{
	return (1u << map->bits) + map->nr_cpus * HIST_NEST_MAX;
}

void hist_map_free(struct hist_map *map)
{
	if (!map)
		return;
	kvfree(map->slots);
	kvfree(map->elts);
	kvfree(map->cpus);
	kfree(map);
}

/* Elements, slots and the CPUs' parts are pieces of memory of their own. What was made goes when one cannot be had. */
struct hist_map *hist_map_create(unsigned bits, unsigned key_size, unsigned data_size, unsigned nr_cpus)
{
	struct hist_map *map = kzalloc(sizeof(*map), GFP_KERNEL);

	if (!map)
		return NULL;
	map->bits = bits;
	map->key_size = key_size;
	map->elt_size = key_size + data_size;
	map->nr_cpus = nr_cpus;
	map->slots = kvzalloc(nr_slots(map) * sizeof(map->slots[0]), GFP_KERNEL | __GFP_NOWARN);
	map->elts = kvzalloc((size_t)nr_elts(map) * map->elt_size, GFP_KERNEL | __GFP_NOWARN);
	map->cpus = kvzalloc(nr_cpus * sizeof(map->cpus[0]), GFP_KERNEL);
	if (map->slots && map->elts && map->cpus)
		return map;
	hist_map_free(map);
	return NULL;
}

static __always_inline unsigned nr_words(const struct hist_map *map)
{
	return map->key_size / sizeof(u64);
}

/* Each word is folded in by a multiplication, and the high half, which depends on all bits, into the low one. */
static __always_inline u64 hash_key(const u64 *key, unsigned words)
{
	u64 hash = 0;

	for (unsigned i = 0; i < words; i++) {
		hash = (hash ^ key[i]) * 0x61c8864680b583ebULL;
		hash ^= hash >> 32;
	}
	return hash;
}

static __always_inline void *elt_of(const struct hist_map *map, u64 slot)
{
	return map->elts + (size_t)((u32)slot - 1) * map->elt_size;
}

/* Is this the key's element? The upper half of a slot saves nearly all comparisons with other keys. */
static __always_inline bool is_of_key(const struct hist_map *map, u64 slot, u64 hash, const u64 *key, unsigned words)
{
	const u64 *elt;

	if (slot >> 32 != (u32)hash)
		return false;
	elt = elt_of(map, slot);
	for (unsigned i = 0; i < words; i++)
		if (elt[i] != key[i])
			return false;
	return true;
}

/* Raises `entries`, unless the map is full. */
static bool claim_entry(struct hist_map *map)
{
	if (__atomic_load_n(&map->entries, __ATOMIC_RELAXED) >= 1u << map->bits)
		return false;
	if (__atomic_fetch_add(&map->entries, 1, __ATOMIC_RELAXED) < 1u << map->bits)
		return true;
	__atomic_fetch_sub(&map->entries, 1, __ATOMIC_RELAXED);
	return false;
}

/*
 * Put a new element with this key into the free slot. Returns what is in the slot now: the new element, or what another
 * CPU has put there meanwhile, and *mine says which. 0: the map is full.
 */
static u64 fill_slot(struct hist_map *map, u64 *slot, const u64 *key, u64 hash, u32 *in_hand, bool *mine)
{
	u64 old = 0, new;

	*mine = false;
	if (!claim_entry(map))
		return smp_load_acquire(slot);
	if (!*in_hand)
		*in_hand = __atomic_add_fetch(&map->next, 1, __ATOMIC_RELAXED);
	new = (u64)(u32)hash << 32 | *in_hand;
	memcpy(elt_of(map, new), key, map->key_size);
	if (__atomic_compare_exchange_n(slot, &old, new, false, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) {
		*in_hand = 0;
		*mine = true;
		return new;
	}
	__atomic_fetch_sub(&map->entries, 1, __ATOMIC_RELAXED);
	return old;
}

void hist_map_drop(struct hist_map *map, unsigned cpu)
{
	__atomic_fetch_add(&map->cpus[cpu].drops, 1, __ATOMIC_RELAXED);
}

static __always_inline void *count_hit(struct hist_map *map, u64 slot, unsigned cpu)
{
	__atomic_fetch_add(&map->cpus[cpu].hits, 1, __ATOMIC_RELAXED);
	return elt_of(map, slot);
}

/* Slot by slot from `at`, until the key is found, or its new element is in a free slot. */
static noinline void *map_search(struct hist_map *map, const u64 *key, u64 hash, unsigned at, unsigned cpu,
				 unsigned depth, bool *fresh)
{
	for (;; at = (at + 1) & (nr_slots(map) - 1)) {
		u64 slot = smp_load_acquire(&map->slots[at]);

		if (unlikely(!slot)) {
			slot = fill_slot(map, &map->slots[at], key, hash, &map->cpus[cpu].in_hand[depth], fresh);
			if (!slot)
				break;
		}
		if (*fresh || is_of_key(map, slot, hash, key, nr_words(map)))
			return count_hit(map, slot, cpu);
	}
	hist_map_drop(map, cpu);
	return NULL;
}

/* A key that is there stands nearly always in the slot that its hash says. This way saves no registers. */
static __always_inline void *map_insert(struct hist_map *map, const u64 *key, unsigned words, unsigned cpu,
					unsigned depth, bool *fresh)
{
	u64 hash = hash_key(key, words), slot;
	unsigned at = hash_64(hash, map->bits + 1);

	*fresh = false;
	slot = smp_load_acquire(&map->slots[at]);
	if (likely(slot && is_of_key(map, slot, hash, key, words)))
		return count_hit(map, slot, cpu);
	return map_search(map, key, hash, at, cpu, depth, fresh);
}

/* Most keys are one number: for them the compiler leaves out the loops. */
void *hist_map_insert(struct hist_map *map, const void *key, unsigned cpu, unsigned depth, bool *fresh)
{
	if (likely(nr_words(map) == 1))
		return map_insert(map, key, 1, cpu, depth, fresh);
	return map_insert(map, key, nr_words(map), cpu, depth, fresh);
}

/* As map_insert begins, and no further: so it needs no frame. */
void *hist_map_hit_number(struct hist_map *map, u64 key, unsigned cpu)
{
	u64 hash = hash_key(&key, 1);
	u64 slot = smp_load_acquire(&map->slots[hash_64(hash, map->bits + 1)]);

	return likely(slot && is_of_key(map, slot, hash, &key, 1)) ? count_hit(map, slot, cpu) : NULL;
}

void *hist_map_find(const struct hist_map *map, const void *key)
{
	u64 hash = hash_key(key, nr_words(map)), slot;

	for (unsigned at = hash_64(hash, map->bits + 1);; at = (at + 1) & (nr_slots(map) - 1)) {
		slot = smp_load_acquire(&map->slots[at]);
		if (!slot)
			return NULL;
		if (is_of_key(map, slot, hash, key, nr_words(map)))
			return elt_of(map, slot);
	}
}

void hist_map_clear(struct hist_map *map)
{
	memset(map->slots, 0, nr_slots(map) * sizeof(map->slots[0]));
	memset(map->elts, 0, (size_t)map->next * map->elt_size);
	memset(map->cpus, 0, map->nr_cpus * sizeof(map->cpus[0]));
	map->entries = map->next = 0;
}

u64 hist_map_hits(const struct hist_map *map)
{
	u64 hits = 0;

	for (unsigned cpu = 0; cpu < map->nr_cpus; cpu++)
		hits += READ_ONCE(map->cpus[cpu].hits);
	return hits;
}

u64 hist_map_drops(const struct hist_map *map)
{
	u64 drops = 0;

	for (unsigned cpu = 0; cpu < map->nr_cpus; cpu++)
		drops += READ_ONCE(map->cpus[cpu].drops);
	return drops;
}

void *hist_map_slot(const struct hist_map *map, unsigned slot)
{
	u64 word = smp_load_acquire(&map->slots[slot]);

	return word ? elt_of(map, word) : NULL;
}
