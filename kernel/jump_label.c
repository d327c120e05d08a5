/* Static branches: switching the sites of a key between nop and jump. */
#include <asm/patch.h>
#include <kernel/jump_label.h>
#include <kernel/text_patch.h>

/*
 * The compiler's table of sites, in link order. A key has few sites and changes rarely: it is searched from
 * end to end.
 */
extern struct jump_entry __start___jump_table[], __stop___jump_table[];

/* Context: every other CPU parked. */
static notrace void jump_label_update(void *data)
{
	struct static_key *key = data;
	bool on = static_key_enabled(key);

	for (struct jump_entry *e = __start___jump_table; e < __stop___jump_table; e++)
		if (e->key == (unsigned long)key)
			arch_patch_write(e->code, on ? e->target : 0, PATCH_JUMP);
}

/* text_mutex makes count and code change together: who returns from inc finds every site switched. */
static void static_key_add(struct static_key *key, int delta)
{
	int old;

	mutex_lock(&text_mutex);
	old = atomic_read(&key->enabled);
	atomic_set(&key->enabled, old + delta);
	if (!old != !(old + delta))
		text_patch_stopped(jump_label_update, key);
	mutex_unlock(&text_mutex);
}

void static_key_slow_inc(struct static_key *key)
{
	static_key_add(key, 1);
}

void static_key_slow_dec(struct static_key *key)
{
	static_key_add(key, -1);
}
