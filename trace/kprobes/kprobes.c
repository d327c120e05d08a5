/*
 * kprobes: who asks for which probe. Places are made and changed in sites.c, slots in slots.c, and hits.c has what
 * happens at a hit.
 */
#include <kernel/ksyms.h>
#include <kernel/module.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <sched/preempt.h>

#include "internal.h"

DEFINE_MUTEX(kprobe_mutex);

extern const char _stext[], _etext[], __entry_text_start[], __entry_text_end[], __noinstr_text_start[],
	__noinstr_text_end[], __idmap_text_start[], __idmap_text_end[], __kprobes_text_start[], __kprobes_text_end[],
	__ftrace_callers_text_start[], __ftrace_text_end[]; /* linker.ld */

/* Text that is executed before a hit is known to be one, or while the text itself changes. */
static const struct {
	const char *start, *end;
} blacklist[] = {
	{__entry_text_start, __entry_text_end},		  {__noinstr_text_start, __noinstr_text_end},
	{__idmap_text_start, __idmap_text_end},		  {__kprobes_text_start, __kprobes_text_end},
	{__ftrace_callers_text_start, __ftrace_text_end},
};

bool kprobe_blacklist_range(unsigned n, unsigned long *start, unsigned long *end)
{
	if (n >= ARRAY_SIZE(blacklist))
		return false;
	*start = (unsigned long)blacklist[n].start;
	*end = (unsigned long)blacklist[n].end;
	return true;
}

static bool is_blacklisted(unsigned long addr)
{
	unsigned long start, end;

	for (unsigned n = 0; kprobe_blacklist_range(n, &start, &end); n++)
		if (addr - start < end - start)
			return true;
	return false;
}

/* ---- Registration */

/* Does a NOKPROBE_SYMBOL of the module name the function that addr is in? The module is held. */
static bool module_forbids(const struct module *mod, unsigned long addr)
{
	unsigned long size, offset;
	unsigned n;
	const unsigned long *fns = module_section(mod, "_kprobe_blacklist", sizeof(*fns), &n);

	if (!n || !kallsyms_lookup(addr, &size, &offset, (char[KSYM_NAME_LEN]){}))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (fns[i] - (addr - offset) < size)
			return true;
	return false;
}

/* With preemption off the module that was found cannot be freed before it is held. */
int kprobe_hold_module(unsigned long addr, struct module **mod)
{
	int err = 0;

	*mod = NULL;
	if (addr >= (unsigned long)_stext && addr < (unsigned long)_etext)
		return is_blacklisted(addr) ? -EINVAL : 0;
	preempt_disable();
	*mod = __module_address(addr);
	if (!*mod || addr - (*mod)->memory[MODULE_TEXT].base >= (*mod)->memory[MODULE_TEXT].size)
		err = -EINVAL;
	else if (!try_module_get(*mod))
		err = -EBUSY;
	preempt_enable();
	if (err)
		*mod = NULL;
	if (!err && module_forbids(*mod, addr)) {
		module_put(*mod);
		*mod = NULL;
		err = -EINVAL;
	}
	return err;
}

int kprobe_find_address(const struct kprobe *p, unsigned long *addr)
{
	if (!p->addr == !p->symbol_name)
		return -EINVAL;
	*addr = p->addr ? (unsigned long)p->addr : kallsyms_lookup_name(p->symbol_name);
	if (!*addr)
		return -ENOENT;
	*addr += p->offset;
	return 0;
}

/* p leaves its site, which goes with its last probe. */
static void drop_probe(struct kprobe *p)
{
	struct kprobe_site *site = p->site;
	u32 flags = p->flags;

	p->flags |= KPROBE_FLAG_DISABLED; /* for kprobe_any_enabled() */
	if (!list_is_singular(&site->probes)) {
		kprobe_change_site(&(struct kprobe_change){.site = site, .leave = p}, kprobe_any_enabled(site));
	} else {
		kprobe_drop_site(site, p);
	}
	p->site = NULL;
	p->flags = flags;
}

/* kprobe_mutex held, and the module of addr. Errors: as register_kprobe(); p is not registered then. */
static int register_locked(struct kprobe *p, unsigned long addr)
{
	struct kprobe_code code;
	struct kprobe_site *site = kprobe_site_for(p, addr, &code);
	struct kprobe_change change = {.join = p, .site = site};
	int err;

	if (IS_ERR(site))
		return PTR_ERR(site);
	if (kprobe_find_site(addr) != site) {
		change.add = site;
		change.code = &code;
	}
	p->site = site;
	err = kprobe_change_site(&change, kprobe_is_enabled(p) || kprobe_any_enabled(site)) ?: kprobe_settle(site);
	if (err) {
		drop_probe(p);
		return err;
	}
	p->addr = (kprobe_opcode_t *)addr;
	return 0;
}

/* The module of the text is held meanwhile; later it may go, and takes the probe along (module_goes). */
int register_kprobe(struct kprobe *p)
{
	struct module *mod;
	unsigned long addr;
	int err = kprobe_find_address(p, &addr);

	if (err)
		return err;
	err = kprobe_hold_module(addr, &mod);
	if (err)
		return err;
	mutex_lock(&kprobe_mutex);
	err = p->site ? -EINVAL : 0;
	if (!err) {
		p->nmissed = 0;
		p->flags &= KPROBE_FLAG_DISABLED; /* its module may have taken it along before */
		err = register_locked(p, addr);
	}
	mutex_unlock(&kprobe_mutex);
	if (mod)
		module_put(mod);
	return err;
}
EXPORT_SYMBOL_GPL(register_kprobe);

void unregister_kprobe(struct kprobe *p)
{
	mutex_lock(&kprobe_mutex);
	if (p->site)
		drop_probe(p);
	mutex_unlock(&kprobe_mutex);
}
EXPORT_SYMBOL_GPL(unregister_kprobe);

int register_kprobes(struct kprobe **ps, int num)
{
	if (num <= 0)
		return -EINVAL;
	for (int i = 0; i < num; i++) {
		int err = register_kprobe(ps[i]);

		if (err) {
			unregister_kprobes(ps, i);
			return err;
		}
	}
	return 0;
}
EXPORT_SYMBOL_GPL(register_kprobes);

void unregister_kprobes(struct kprobe **ps, int num)
{
	for (int i = 0; i < num; i++)
		unregister_kprobe(ps[i]);
}
EXPORT_SYMBOL_GPL(unregister_kprobes);

/* After an error the probe is what it was. */
static int set_disabled(struct kprobe *p, bool disabled)
{
	int err = -EINVAL;

	mutex_lock(&kprobe_mutex);
	if (p->site) {
		u32 before = p->flags;

		p->flags = disabled ? before | KPROBE_FLAG_DISABLED : before & ~KPROBE_FLAG_DISABLED;
		err = kprobe_change_site(&(struct kprobe_change){.site = p->site}, kprobe_any_enabled(p->site))
			      ?: kprobe_settle(p->site);
		if (err)
			p->flags = before;
	}
	mutex_unlock(&kprobe_mutex);
	return err;
}

int disable_kprobe(struct kprobe *p)
{
	return set_disabled(p, true);
}
EXPORT_SYMBOL_GPL(disable_kprobe);

int enable_kprobe(struct kprobe *p)
{
	return set_disabled(p, false);
}
EXPORT_SYMBOL_GPL(enable_kprobe);

/* ---- Modules */

/* A module's text goes, and its probes with it: they stay registered by name alone, as KPROBE_FLAG_GONE. */
static void module_goes(struct module *mod)
{
	const struct module_memory *text = &mod->memory[MODULE_TEXT];

	mutex_lock(&kprobe_mutex);
	for (unsigned i = 0; i < KPROBE_BUCKETS; i++) {
		struct kprobe_site *site, *next;
		struct kprobe *p;

		for (site = kprobe_sites[i]; site; site = next) {
			next = site->next;
			if (site->addr - text->base >= text->size)
				continue;
			list_for_each_entry(p, &site->probes, list) {
				p->flags |= KPROBE_FLAG_GONE;
				p->site = NULL;
			}
			kprobe_drop_site(site, NULL);
		}
	}
	mutex_unlock(&kprobe_mutex);
}

void (*kprobe_module_came)(struct module *mod);

/* By now trace/ftrace knows its call sites, as it is told first of modules. */
static int module_comes(struct module *mod)
{
	if (kprobe_module_came)
		kprobe_module_came(mod);
	return 0;
}

static const struct module_notifier kprobe_notifier = {.coming = module_comes, .going = module_goes};
REGISTER_MODULE_NOTIFIER(kprobe_notifier);

/* Each site in turn, of which `change` may make another one. 0 or the last -errno. */
static int for_each_site(int (*change)(struct kprobe_site *site))
{
	int err = 0;

	for (unsigned i = 0; i < KPROBE_BUCKETS; i++)
		for (struct kprobe_site *site = kprobe_sites[i], *next; site; site = next) {
			int failed;

			next = site->next;
			failed = change(site);
			if (failed)
				err = failed;
		}
	return err;
}

static int arm_as_wanted(struct kprobe_site *site)
{
	return kprobe_change_site(&(struct kprobe_change){.site = site}, kprobe_any_enabled(site))
		       ?: kprobe_settle(site);
}

int kprobes_set_armed(bool on)
{
	int err;

	mutex_lock(&kprobe_mutex);
	kprobes_all_disarmed = !on;
	err = for_each_site(arm_as_wanted);
	mutex_unlock(&kprobe_mutex);
	return err;
}

static int jump_as_allowed(struct kprobe_site *site)
{
	if (!site->slot || site->has_post || (site->how == KPROBE_BY_JUMP) == kprobes_allow_optimization)
		return 0;
	return kprobe_replace_site(site, false, kprobes_allow_optimization);
}

/* What can be a jump now, and is none yet, becomes one; or no jump is left. */
int kprobes_set_optimization(bool on)
{
	int err, settled;

	mutex_lock(&kprobe_mutex);
	kprobes_allow_optimization = on;
	err = for_each_site(jump_as_allowed);
	settled = for_each_site(kprobe_settle);
	mutex_unlock(&kprobe_mutex);
	return settled ?: err;
}
