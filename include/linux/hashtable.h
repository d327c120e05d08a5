/* Tables of lists by a hash. The size of a table is a power of two. */
#pragma once

#include <lib/hash.h>
#include <linux/list.h>

#define DEFINE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)] = {}
#define hash_min(key, size)	     ((unsigned)(((u64)(key) * 0x61c8864680b583ebULL) >> 32) & ((size) - 1))
#define hash_init(table)	     memset(table, 0, sizeof(table))
#define hash_add(table, node, key)   hlist_add_head(node, &(table)[hash_min(key, ARRAY_SIZE(table))])
#define hash_del(node)		     hlist_del(node)
#define hash_for_each_possible(table, obj, member, key) \
	hlist_for_each_entry (obj, &(table)[hash_min(key, ARRAY_SIZE(table))], member)
#define hash_for_each(table, bkt, obj, member)                \
	for ((bkt) = 0; (bkt) < ARRAY_SIZE(table); (bkt)++) \
		hlist_for_each_entry (obj, &(table)[bkt], member)
#define hash_for_each_safe(table, bkt, tmp, obj, member)      \
	for ((bkt) = 0; (bkt) < ARRAY_SIZE(table); (bkt)++) \
		hlist_for_each_entry_safe (obj, tmp, &(table)[bkt], member)
