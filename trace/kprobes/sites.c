/*
 * Probed places: made, put in and taken out, armed and disarmed.
 *
 * A place is noticed in one of three ways:
 *
 *	by ftrace	at a call site of a function: one user of ftrace has all of these sites in its filter
 *	by a jump	to a slot, which calls the handlers, executes the instruction and goes on behind it
 *	by a breakpoint	where a jump cannot stand; the handler of the exception calls, and sends the CPU into the slot
 *
 * A place changes its way by being replaced: another site for the same address takes over the probes, in one stop.
 * What runs in a stop is not probed itself (__kprobes): it changes what a hit looks at.
 */
#include <arch/patch.h>
#include <kernel/jump_label.h>
#include <kernel/ksyms.h>
#include <kernel/text_patch.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <trace/ftrace.h>

#include "internal.h"

bool kprobes_all_disarmed, kprobes_allow_optimization = true;

/*
 * A jump may replace several instructions. A task that was preempted between two of them would go on in the middle of
 * the jump, and so would one that is still in the slot of a probe that was there before, and goes on behind its
 * instruction. While there is such a task the place cannot become a jump.
 */
static __kprobes bool may_jump(const struct kprobe_site *site)
{
	unsigned long end = site->addr + site->len;

	if (!site->several)
		return true;
	return !kprobe_task_inside(site->addr, end) && !kprobe_slot_retired(site->addr - KPROBE_MAX_COPY, end);
}

static __kprobes void write_text(struct kprobe_site *site, bool on)
{
	if (site->armed == on)
		return;
	site->blocked = site->how == KPROBE_BY_JUMP && on && !may_jump(site);
	if (site->blocked)
		return;
	site->armed = on;
	if (site->how == KPROBE_BY_BREAK && on)
		arch_kprobe_write_break(site->addr);
	else if (site->how == KPROBE_BY_JUMP && on)
		arch_kprobe_write_jump(site->addr, site->entry, site->len);
	else if (site->how != KPROBE_BY_FTRACE)
		arch_kprobe_restore(site->addr, site->original, site->len);
}

static __kprobes void unlink_site(struct kprobe_site *site)
{
	struct kprobe_site **at = kprobe_bucket(site->addr);

	while (*at != site)
		at = &(*at)->next;
	*at = site->next;
}

static __kprobes void link_site(struct kprobe_site *site, const struct kprobe_code *code)
{
	if (site->slot) {
		kprobe_slot_write(site->slot, code);
		site->slot->owner = site;
		site->slot->addr = site->addr;
	}
	site->next = *kprobe_bucket(site->addr);
	*kprobe_bucket(site->addr) = site;
}

/* The probe that a hit calls without a look at the list. */
static __kprobes struct kprobe *single_of(const struct kprobe_site *site)
{
	struct kprobe *p;

	if (!site->armed || !list_is_singular(&site->probes))
		return NULL;
	p = list_first_entry(&site->probes, struct kprobe, list);
	return p->pre_handler && !p->post_handler ? p : NULL;
}

/* With all other CPUs parked. Slots are taken back before a place is armed, because may_jump() looks at the rest. */
static __kprobes void apply(void *data)
{
	struct kprobe_change *c = data;

	if (c->drop) {
		write_text(c->drop, false);
		unlink_site(c->drop);
		if (c->drop->slot)
			kprobe_slot_retire(c->drop->slot);
	}
	if (c->add) {
		link_site(c->add, c->code);
		if (c->drop)
			list_splice_tail_init(&c->drop->probes, &c->add->probes);
	}
	if (c->leave)
		list_del(&c->leave->list);
	if (c->join) {
		list_add_tail(&c->join->list, &c->site->probes);
		c->site->has_post |= c->join->post_handler != NULL; /* by ftrace; others were made so */
	}
	kprobe_slots_reap();
	if (!c->site)
		return;
	write_text(c->site, c->arm);
	c->site->single = single_of(c->site);
}

static void stop_and_apply(struct kprobe_change *c)
{
	mutex_lock(&text_mutex);
	text_patch_stopped(apply, c);
	mutex_unlock(&text_mutex);
}

bool kprobe_any_enabled(const struct kprobe_site *site)
{
	const struct kprobe *p;

	list_for_each_entry(p, &site->probes, list)
		if (kprobe_is_enabled(p))
			return true;
	return false;
}

/* Where ftrace has to be asked, it calls a site only from the stop that arms it to the one that disarms it. */
int kprobe_change_site(struct kprobe_change *c, bool wanted)
{
	struct kprobe_site *site = c->site;
	bool by_ftrace = site && site->how == KPROBE_BY_FTRACE, before = site && site->armed;
	int err = 0;

	c->arm = wanted && !kprobes_all_disarmed;
	if (by_ftrace && before && !c->arm)
		kprobe_ask_ftrace(site->addr, false);
	stop_and_apply(c);
	if (by_ftrace && !before && c->arm)
		err = kprobe_ask_ftrace(site->addr, true);
	if (err)
		stop_and_apply(&(struct kprobe_change){.site = site});
	return err;
}

/* ---- Sites */

/* The site whose jump lies over addr, without beginning there; NULL: there is none. */
static struct kprobe_site *site_over(unsigned long addr)
{
	for (unsigned long at = addr - KPROBE_MAX_COPY + 1; at < addr; at++) {
		struct kprobe_site *site = kprobe_find_site(at);

		if (site && site->how == KPROBE_BY_JUMP && at + site->len > addr)
			return site;
	}
	return NULL;
}

static bool sites_behind(unsigned long addr, unsigned len)
{
	for (unsigned long at = addr + 1; at < addr + len; at++)
		if (kprobe_find_site(at))
			return true;
	return false;
}

bool kprobe_place_changes(unsigned long addr, unsigned len)
{
	for (unsigned long at = addr - PATCH_SITE_SIZE + 1; at < addr + len; at++)
		if (ftrace_location(at) == at || jump_label_at(at))
			return true;
	return false;
}

/*
 * A site for addr that is not linked yet, with what its slot will hold in *code. Where another site stands in the way
 * of a jump, it is one of a breakpoint. ERR_PTR: as register_kprobe().
 */
static struct kprobe_site *make_site(unsigned long addr, bool post, bool jump, struct kprobe_code *code)
{
	struct kprobe_site *site = kzalloc(sizeof(*site), GFP_KERNEL);
	unsigned long size, offset;
	int err = -ENOMEM;

	if (!site)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&site->probes);
	site->addr = addr;
	if (ftrace_location(addr) == addr) {
		site->how = KPROBE_BY_FTRACE;
		return site;
	}
	kprobe_set_hooks();
	site->slot = kprobe_slot_get();
	if (!site->slot)
		goto fail;
	err = -EINVAL;
	if (!kallsyms_lookup(addr, &size, &offset, (char[KSYM_NAME_LEN]){}))
		goto fail;
	*code = (struct kprobe_code){
		.addr = addr, .slot = site->slot->text, .owner = &site->slot->owner, .post = post, .jump = jump};
	mutex_lock(&text_mutex);
	if (kprobe_place_changes(addr, 1))
		err = jump_label_at(addr) ? -EINVAL : -EILSEQ; /* else it is in the middle of such a place */
	else
		err = arch_kprobe_prepare(code, addr - offset, addr - offset + size);
	if (!err && code->jump && sites_behind(addr, code->len)) {
		code->jump = false;
		err = arch_kprobe_prepare(code, addr - offset, addr - offset + size);
	}
	if (!err && !kprobe_read_text(addr, site->original, code->len))
		err = -EINVAL;
	mutex_unlock(&text_mutex);
	if (err)
		goto fail;
	site->how = code->jump ? KPROBE_BY_JUMP : KPROBE_BY_BREAK;
	site->has_post = post;
	site->several = code->jump && code->several;
	site->len = code->len;
	site->entry = site->slot->text + code->entry;
	site->code = site->slot->text + code->code;
	return site;
fail:
	if (site->slot)
		kprobe_slot_put(site->slot);
	kfree(site);
	return ERR_PTR(err);
}

/* The other site has the slot of its own, and takes over the probes in the stop that puts it in the place of `old`. */
int kprobe_replace_site(struct kprobe_site *old, bool post, bool jump)
{
	struct kprobe_code code;
	struct kprobe_site *site = make_site(old->addr, post, jump, &code);
	struct kprobe_change c;
	struct kprobe *p;
	int err;

	if (IS_ERR(site))
		return PTR_ERR(site);
	c = (struct kprobe_change){.drop = old, .add = site, .code = &code, .site = site};
	err = kprobe_change_site(&c, kprobe_any_enabled(old));
	list_for_each_entry(p, &site->probes, list)
		p->site = site;
	kfree(old);
	return err;
}

int kprobe_settle(struct kprobe_site *site)
{
	return site->blocked ? kprobe_replace_site(site, site->has_post, false) : 0;
}

void kprobe_drop_site(struct kprobe_site *site, struct kprobe *p)
{
	if (site->how == KPROBE_BY_FTRACE && site->armed)
		kprobe_ask_ftrace(site->addr, false);
	stop_and_apply(&(struct kprobe_change){.drop = site, .leave = p});
	kfree(site);
}

/* A jump over addr becomes a breakpoint first, and a site that has no calls after its instruction gets them. */
struct kprobe_site *kprobe_site_for(const struct kprobe *p, unsigned long addr, struct kprobe_code *code)
{
	struct kprobe_site *over = site_over(addr), *site;
	int err = over ? kprobe_replace_site(over, over->has_post, false) : 0;

	site = kprobe_find_site(addr);
	if (!err && site && p->post_handler && site->slot && !site->has_post)
		err = kprobe_replace_site(site, true, false);
	if (err)
		return ERR_PTR(err);
	site = kprobe_find_site(addr);
	return site ?: make_site(addr, p->post_handler, kprobes_allow_optimization && !p->post_handler, code);
}
