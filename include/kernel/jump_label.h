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
	bool switched;	  /* its sites jump [text_mutex] */
};
#define STATIC_KEY_INIT               \
	{                             \
		ATOMIC_INIT(0), false \
	}

struct jump_entry {
	unsigned long code;   /* address of the nop */
	unsigned long target; /* where it jumps when the key is on */
	unsigned long key;
};

/* True when the key is on. The site must be in kernel text that is mapped when keys change. */
#define static_key_false(key)	arch_static_branch(key)
#define static_key_enabled(key) (atomic_read(&(key)->enabled) > 0)

/* Counted: the n-th inc needs the n-th dec. Context: thread; sleeps. Sites are switched when they return. */
void static_key_slow_inc(struct static_key *key);
void static_key_slow_dec(struct static_key *key);
/* For a key that is on or off: its count becomes 1 or 0, whatever it was. The same context. */
void static_key_set(struct static_key *key, bool on);

/*
 * The same for many keys in one stop: each is counted now, and static_key_switch() switches the sites of all keys that
 * were counted on or off since, also of those that another thread has counted; so does a thread that stops the machine
 * to change other text before that. In between the sites stay as they were. Context: thread; sleep. They cannot fail.
 */
void static_key_inc_later(struct static_key *key);
void static_key_dec_later(struct static_key *key);
void static_key_switch(void);

/*
 * The sites of a module. The table is the caller's, and so are the entries, which are changed. Thread context; sleep.
 * add: before the module runs; 0, or -EINVAL: an entry is not about text that can be patched. forget: those in a piece
 * of text that is about to be freed. remove: all of them; not being in the list is fine.
 */
struct jump_table {
	struct jump_table *next;	 /* [text_mutex] */
	struct jump_entry *start, *stop; /* [text_mutex] */
};
int jump_table_add(struct jump_table *table);
void jump_table_forget(struct jump_table *table, unsigned long start, unsigned long size);
void jump_table_remove(struct jump_table *table);

/* Has the kernel itself a site of the key that would be at this address, so that there is one? Any context. */
bool static_key_is_of_kernel(const struct static_key *key);
/* Is there a site of a static branch at this address? [text_mutex] */
bool jump_label_at(unsigned long addr);
/* Does a static branch lead into [start, end) when its key is on, whatever it is now? [text_mutex] */
bool jump_label_leads_into(unsigned long start, unsigned long end);

/* For text_patch_stopped(): what is left to switch, with every other CPU parked, text writable and text_mutex held. */
void jump_label_switch_stopped(void);
