/* Keys that are counted; the test switches no site. */
#pragma once

#include <lib/atomic.h>
#include <lib/types.h>

struct static_key {
	atomic_t enabled;
};
#define static_key_false(key) false
void static_key_inc_later(struct static_key *key);
void static_key_dec_later(struct static_key *key);
void static_key_switch(void);

struct jump_table {
	void *start, *stop;
};
