/* Static branches: switching the sites of a key between nop and jump. */
#include <arch/patch.h>
#include <kernel/export.h>
#include <kernel/jump_label.h>
#include <kernel/text_patch.h>

/* The compiler's table of sites, in link order. Keys change rarely: it is searched from end to end. */
extern struct jump_entry __start___jump_table[], __stop___jump_table[];

#define for_each_site(e) for (struct jump_entry * (e) = __start___jump_table; (e) < __stop___jump_table; (e)++)

static __always_inline struct static_key *key_of(const struct jump_entry *e)
{
	return (struct static_key *)e->key;
}

/* Its count has changed since its sites were switched. */
static __always_inline bool is_behind(const struct static_key *key)
{
	return key->switched != static_key_enabled(key);
}

/* Keys may have been counted without their sites. [text_mutex] */
static bool keys_left_behind;

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

/* What the stop itself does besides what is asked: see jump_label_switch_stopped. */
static notrace void nothing_else(void *unused)
{
}

/* One stop, if there is anything to switch. text_mutex held. */
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
EXPORT_SYMBOL(static_key_slow_inc);

void static_key_slow_dec(struct static_key *key)
{
	static_key_add(key, -1, true);
}
EXPORT_SYMBOL(static_key_slow_dec);

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
