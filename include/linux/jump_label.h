/*
 * Static keys: a branch that costs a nop, or a jump, and no load. The kernel's own keys are counted
 * (static_key_slow_inc); these are on or off, and the branches of all modules that ask for one follow it. Changes
 * sleep.
 *
 * The kernel has sites that begin as nops only. So a key that begins as true holds the opposite, and its branches are
 * turned round.
 */
#pragma once

#include <kernel/jump_label.h>

struct static_key_false {
	struct static_key key; /* on: the key is true */
};
struct static_key_true {
	struct static_key key; /* on: the key is false */
};
#define STATIC_KEY_FALSE_INIT   \
	{                       \
		STATIC_KEY_INIT \
	}
#define STATIC_KEY_TRUE_INIT	       STATIC_KEY_FALSE_INIT
#define DEFINE_STATIC_KEY_FALSE(name)  struct static_key_false name = STATIC_KEY_FALSE_INIT
#define DEFINE_STATIC_KEY_TRUE(name)   struct static_key_true name = STATIC_KEY_TRUE_INIT
#define DECLARE_STATIC_KEY_FALSE(name) extern struct static_key_false name
#define DECLARE_STATIC_KEY_TRUE(name)  extern struct static_key_true name

#define __static_key_is(k, type)     __builtin_types_compatible_p(__typeof__(*(k)), struct type)
#define __static_key_holds(k, value) (__static_key_is(k, static_key_true) ? !(value) : (value))
#define static_branch_unlikely(k)    unlikely(__static_key_holds(k, arch_static_branch(&(k)->key)))
#define static_branch_likely(k)	     likely(__static_key_holds(k, arch_static_branch(&(k)->key)))
#define __static_key_on(k)	     (atomic_read((const atomic_t *)(k)) > 0) /* `enabled` stands first in each kind */
#undef static_key_enabled
#define static_key_enabled(k)	 __static_key_holds(k, __static_key_on(k))
#define static_branch_enable(k)	 static_key_set(&(k)->key, !__static_key_is(k, static_key_true))
#define static_branch_disable(k) static_key_set(&(k)->key, __static_key_is(k, static_key_true))
/* Counted: on until as many have said _dec as have said _inc. For keys that begin as false. */
#define static_branch_inc(k) static_key_slow_inc(&((struct static_key_false *){k})->key)
#define static_branch_dec(k) static_key_slow_dec(&((struct static_key_false *){k})->key)
