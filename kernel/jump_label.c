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
 *
 * The compiler leaves a table of sites for the kernel, and one for each module. Keys change rarely, so all tables are
 * searched from end to end. text_mutex guards the list of tables as well.
 */
#include <arch/patch.h>
#include <irq/irqflags.h>
#include <kernel/export.h>
#include <kernel/jump_label.h>
#include <kernel/text_patch.h>
#include <trace/preemptirq.h>

extern struct jump_entry __start___jump_table[], __stop___jump_table[];
/* The kernel's, and behind it those of modules. */
static struct jump_table tables = {NULL, __start___jump_table, __stop___jump_table};

/*
 * The keys of the hooks in local_irq_enable(), preempt_enable() and their like. Code of every room has these inline, so
 * the keys are here, below all of it; what the hooks call is in trace/tracers/preemptirq.c.
 */
struct static_key trace_irqs_key = STATIC_KEY_INIT, trace_preempt_key = STATIC_KEY_INIT;

#define for_each_site(t, e)                                                \
	for (const struct jump_table *(t) = &tables; (t); (t) = (t)->next) \
		for (struct jump_entry * (e) = (t)->start; (e) < (t)->stop; (e)++)

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
	for_each_site(t, e)
		if (is_behind(key_of(e)))
			arch_patch_write(e->code, key_of(e)->switched ? 0 : e->target, PATCH_JUMP);
	for_each_site(t, e)
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
	for_each_site(t, e)
		any |= is_behind(key_of(e));
	if (any)
		text_patch_stopped(nothing_else, NULL);
	keys_left_behind = false;
}

/* text_mutex makes count and code change together: a task that returns from a change `now` finds all sites switched. */
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

/* A thread that counts the same key at this moment comes before or after: text_mutex is held throughout. */
void static_key_set(struct static_key *key, bool on)
{
	mutex_lock(&text_mutex);
	atomic_set(&key->enabled, on);
	keys_left_behind = true;
	switch_all();
	mutex_unlock(&text_mutex);
}
EXPORT_SYMBOL(static_key_set);

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

bool jump_label_at(unsigned long addr)
{
	for_each_site(t, e)
		if (e->code == addr)
			return true;
	return false;
}

bool jump_label_leads_into(unsigned long start, unsigned long end)
{
	for_each_site(t, e)
		if (e->target - start < end - start)
			return true;
	return false;
}

/* ---- Modules */

/* The kernel's table never changes but for what its sites hold. */
bool static_key_is_of_kernel(const struct static_key *key)
{
	for (const struct jump_entry *e = __start___jump_table; e < __stop___jump_table; e++)
		if (key_of(e) == key)
			return true;
	return false;
}

/* Sites of keys that are on begin as jumps. They are not executed yet, so no CPU has to be stopped. */
static int write_jumps(const struct jump_table *table)
{
	unsigned long flags;
	int err = 0;

	raw_local_irq_save(flags);
	arch_patch_begin();
	for (struct jump_entry *e = table->start; e < table->stop && !err; e++)
		if (key_of(e)->switched)
			err = arch_patch_write(e->code, e->target, PATCH_JUMP);
	arch_patch_end();
	raw_local_irq_restore(flags);
	return err;
}

int jump_table_add(struct jump_table *table)
{
	int err;

	mutex_lock(&text_mutex);
	err = write_jumps(table);
	if (!err) {
		table->next = tables.next;
		tables.next = table;
	}
	mutex_unlock(&text_mutex);
	return err;
}

void jump_table_forget(struct jump_table *table, unsigned long start, unsigned long size)
{
	struct jump_entry *kept = table->start;

	mutex_lock(&text_mutex);
	for (struct jump_entry *e = table->start; e < table->stop; e++)
		if (e->code - start >= size)
			*kept++ = *e;
	table->stop = kept;
	mutex_unlock(&text_mutex);
}

void jump_table_remove(struct jump_table *table)
{
	struct jump_table *t = &tables;

	mutex_lock(&text_mutex);
	while (t->next && t->next != table)
		t = t->next;
	if (t->next)
		t->next = table->next;
	mutex_unlock(&text_mutex);
}
