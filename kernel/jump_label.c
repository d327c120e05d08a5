/* Static branches: switching the sites of a key between nop and jump. */
#include <arch/patch.h>
#include <irq/irqflags.h>
#include <kernel/export.h>
#include <kernel/jump_label.h>
#include <kernel/text_patch.h>

/* The compiler's table of sites, in link order, and those of modules. Keys change rarely: all are searched. */
extern struct jump_entry __start___jump_table[], __stop___jump_table[];
static struct jump_table *module_tables; /* [text_mutex] */

/* The site behind `e` in the table that it is in (`*t`, NULL: the kernel's), or in the next one; NULL: no more. */
static __always_inline struct jump_entry *next_site(struct jump_table **t, struct jump_entry *e)
{
	struct jump_entry *end = *t ? (*t)->entries + (*t)->nr : __stop___jump_table;

	while (++e >= end) {
		*t = *t ? (*t)->next : module_tables;
		if (!*t)
			return NULL;
		e = (*t)->entries - 1;
		end = (*t)->entries + (*t)->nr;
	}
	return e;
}

/* `t` is a struct jump_table *, for the walk. */
#define for_each_site(e, t)                                                                        \
	for (struct jump_entry * (e) = ((t) = NULL, next_site(&(t), __start___jump_table - 1)); e; \
	     (e) = next_site(&(t), e))

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
	struct jump_table *t;

	if (!keys_left_behind)
		return;
	for_each_site(e, t)
		if (is_behind(key_of(e)))
			arch_patch_write(e->code, key_of(e)->switched ? 0 : e->target, PATCH_JUMP);
	for_each_site(e, t)
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
	struct jump_table *t;
	bool any = false;

	if (!keys_left_behind)
		return;
	for_each_site(e, t)
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

/* ---- Modules */

void jump_table_add(struct jump_table *table)
{
	unsigned long flags;

	mutex_lock(&text_mutex);
	raw_local_irq_save(flags);
	arch_patch_begin();
	for (struct jump_entry *e = table->entries; e < table->entries + table->nr; e++)
		if (key_of(e)->switched)
			arch_patch_write(e->code, e->target, PATCH_JUMP);
	arch_patch_end();
	raw_local_irq_restore(flags);
	table->next = module_tables;
	module_tables = table;
	mutex_unlock(&text_mutex);
}

/* [text_mutex] The pointer to the table with these entries; it points to NULL when there is none. */
static struct jump_table **find_table(const struct jump_entry *entries)
{
	struct jump_table **t = &module_tables;

	while (*t && (*t)->entries != entries)
		t = &(*t)->next;
	return t;
}

void jump_table_drop(const struct jump_entry *entries, unsigned long start, unsigned long size)
{
	struct jump_table *t;
	unsigned kept = 0;

	mutex_lock(&text_mutex);
	t = *find_table(entries);
	for (unsigned i = 0; t && i < t->nr; i++)
		if (t->entries[i].code - start >= size)
			t->entries[kept++] = t->entries[i];
	if (t)
		t->nr = kept;
	mutex_unlock(&text_mutex);
}

struct jump_table *jump_table_remove(const struct jump_entry *entries)
{
	struct jump_table **link, *t;

	mutex_lock(&text_mutex);
	link = find_table(entries);
	t = *link;
	if (t)
		*link = t->next;
	mutex_unlock(&text_mutex);
	return t;
}
