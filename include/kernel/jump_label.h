/*
 * Static branches: a condition that is almost never true costs one nop. static_key_false() compiles to a nop at the
 * site and the body out of line; enabling the key patches every site of it to a jump, all in one stop of the machine.
 */
#pragma once

#include <asm/jump_label.h>
#include <lib/atomic.h>
#include <lib/types.h>

struct static_key {
	atomic_t enabled; /* how often it was enabled [text_mutex for changes] */
};
#define STATIC_KEY_INIT { ATOMIC_INIT(0) }

struct jump_entry {
	unsigned long code;   /* address of the nop */
	unsigned long target; /* where it jumps when the key is on */
	unsigned long key;
};

/* True when the key is on. The site must be in kernel text that is mapped when keys change. */
#define static_key_false(key) arch_static_branch(key)
#define static_key_enabled(key) (atomic_read(&(key)->enabled) > 0)

/* Counted: the n-th inc needs the n-th dec. Context: thread; sleeps. Sites are switched when they return. */
void static_key_slow_inc(struct static_key *key);
void static_key_slow_dec(struct static_key *key);
