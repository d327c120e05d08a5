/*
 * Static branches: an `if` that is nearly always false costs a nop. The compiler writes a nop at each site and notes
 * the site in a table; switching a key on turns the nops of all its sites into jumps.
 *
 *     key->enabled    how many want it on; the C code that asks static_key_enabled() sees this
 *     key->switched   what the sites hold now
 *
 * The two differ while a change is "later": many keys are counted first, and one stop of the machine then switches
 * all of their sites, since a stop is what costs. text_mutex guards both; the sites change while all other CPUs are
 * parked.
 */
#include <arch/patch.h>
#include <kernel/jump_label.h>
#include <kernel/text_patch.h>

/* The compiler's table of sites, in the order of linking. It is searched from end to end: keys change rarely. */
extern struct jump_entry __start___jump_table[], __stop___jump_table[];

#define for_each_site(e) for (struct jump_entry * (e) = __start___jump_table; (e) < __stop___jump_table; (e)++)

static __always_inline struct static_key *key_of(const struct jump_entry *e)
{
	return (struct static_key *)e->key;
}

/* Do the sites of this key still hold what they held before its count changed? */
static __always_inline bool is_behind(const struct static_key *key)
{
	return key->switched != static_key_enabled(key);
}

/* Some keys may have been counted without a change of their sites. [text_mutex] */
static bool keys_left_behind;

/*
 * The sites are written first and `switched` is set afterwards, because several sites belong to one key, and each is
 * to be found behind.
 */
notrace void jump_label_switch_stopped(void)
{
	if (!keys_left_behind)
		return;
	for_each_site(e)
		if (is_behind(key_of(e)))
			arch_patch_write(e->code, key_of(e)->switched ? 0 : e->target, PATCH_JUMP);
	for_each_site(e)
		key_of(e)->switched = static_key_enabled(key_of(e));
	keys_left_behind = false;
}

/*
 * Every stop of text_patch_stopped() switches the keys that are behind (jump_label_switch_stopped), so a stop for the
 * keys' sake has no other work.
 */
static notrace void nothing_else(void *unused)
{
}

/* One stop of the machine, if any key is behind: a key may have been counted up and down again. [text_mutex] */
static void switch_all(void)
{
	bool any = false;

	if (!keys_left_behind)
		return;
	for_each_site(e)
		any |= is_behind(key_of(e));
	if (any)
		text_patch_stopped(nothing_else, NULL);
	keys_left_behind = false;
}

/* text_mutex makes count and code change together: whoever returns from a change `now` finds every site switched. */
static void static_key_add(struct static_key *key, int delta, bool now)
{
	mutex_lock(&text_mutex);
	atomic_set(&key->enabled, atomic_read(&key->enabled) + delta);
	keys_left_behind = true;
	if (now)
		switch_all();
	mutex_unlock(&text_mutex);
}

void static_key_slow_inc(struct static_key *key)
{
	static_key_add(key, 1, true);
}

void static_key_slow_dec(struct static_key *key)
{
	static_key_add(key, -1, true);
}

void static_key_inc_later(struct static_key *key)
{
	static_key_add(key, 1, false);
}

void static_key_dec_later(struct static_key *key)
{
	static_key_add(key, -1, false);
}

void static_key_switch(void)
{
	mutex_lock(&text_mutex);
	switch_all();
	mutex_unlock(&text_mutex);
}
