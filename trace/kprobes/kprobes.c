/*
 * kprobes: which places of the text are probed, and what happens at a hit.
 *
 * A place (struct kprobe_site) has a list of probes. It is noticed in one of three ways:
 *
 *	by ftrace	at a call site of a function: one user of ftrace has all of these sites in its filter
 *	by a jump	to a slot, which calls the handlers, executes the instruction and goes on behind it
 *	by a breakpoint	where a jump cannot stand; the handler of the exception calls, and sends the CPU into the slot
 *
 * WHY NO LOCK AT A HIT. Sites, their lists and the text change together, in one stop of the machine. A hit has
 * preemption off, or interrupts, from before it looks for its site until the handlers have returned, and no CPU is
 * parked in between. So a hit finds the list as it was when the text was written that led to it, and when a probe has
 * been taken out, no handler of it is running. A task that was preempted in a slot before it came to kprobe_jumped()
 * finds there what its slot belongs to by then.
 *
 * RECURSION. kprobe_running says that this CPU is in a handler. A hit there is counted as missed, and the instruction
 * is executed without calling anybody. What runs before kprobe_running is looked at may not be probed: it would be hit
 * for ever. It stands in .kprobes.text or in the entry code.
 */
#include <arch/patch.h>
#include <irq/irqflags.h>
#include <kernel/jump_label.h>
#include <kernel/ksyms.h>
#include <kernel/module.h>
#include <kernel/percpu.h>
#include <kernel/text_patch.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <mm/uaccess.h>
#include <sched/preempt.h>
#include <trace/ftrace.h>

#include "internal.h"

DEFINE_MUTEX(kprobe_mutex);
struct kprobe_site *kprobe_sites[KPROBE_BUCKETS];
bool kprobes_all_disarmed, kprobes_allow_optimization = true;
static DEFINE_PER_CPU(struct kprobe_site *, kprobe_running); /* [its CPU, preemption off] NULL: no handler runs */

extern const char _stext[], _etext[], __entry_text_start[], __entry_text_end[], __noinstr_text_start[],
	__noinstr_text_end[], __idmap_text_start[], __idmap_text_end[], __kprobes_text_start[], __kprobes_text_end[],
	__ftrace_callers_text_start[], __ftrace_text_end[]; /* linker.ld */

/* Text that is executed before a hit is known to be one, or while the text itself changes. */
static const struct {
	const char *start, *end;
} blacklist[] = {
	{__entry_text_start, __entry_text_end},
	{__noinstr_text_start, __noinstr_text_end},
	{__idmap_text_start, __idmap_text_end},
	{__kprobes_text_start, __kprobes_text_end},
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

bool kprobe_is_blacklisted(unsigned long addr)
{
	unsigned long start, end;

	for (unsigned n = 0; kprobe_blacklist_range(n, &start, &end); n++)
		if (addr - start < end - start)
			return true;
	return arch_kprobe_forbidden(addr);
}

static __always_inline struct kprobe_site **bucket_of(unsigned long addr)
{
	return &kprobe_sites[(addr >> 2 ^ addr >> 10) % KPROBE_BUCKETS];
}

static __always_inline struct kprobe_site *find_site(unsigned long addr)
{
	struct kprobe_site *site = READ_ONCE(*bucket_of(addr));

	while (site && site->addr != addr)
		site = site->next;
	return site;
}

/* ---- Hits */

static __always_inline bool is_enabled(const struct kprobe *p)
{
	return !(p->flags & (KPROBE_FLAG_GONE | KPROBE_FLAG_DISABLED));
}

static __kprobes void count_missed(struct kprobe_site *site)
{
	struct kprobe *p;

	list_for_each_entry(p, &site->probes, list)
		if (is_enabled(p))
			__atomic_fetch_add(&p->nmissed, 1, __ATOMIC_RELAXED);
}

/* The pre_handlers. Nonzero: one of them has said where to go on. Preemption off. */
static int call_before(struct kprobe_site *site, struct pt_regs *regs)
{
	struct kprobe *p;

	list_for_each_entry(p, &site->probes, list)
		if (is_enabled(p) && p->pre_handler && p->pre_handler(p, regs))
			return 1;
	return 0;
}

static int call_after(struct kprobe_site *site, struct pt_regs *regs)
{
	struct kprobe *p;

	list_for_each_entry(p, &site->probes, list)
		if (is_enabled(p) && p->post_handler)
			p->post_handler(p, regs, 0);
	return 0;
}

/* Preemption off. What `call` returns; 0: a handler is running on this CPU. */
static __always_inline int tell(struct kprobe_site *site, struct pt_regs *regs,
				int (*call)(struct kprobe_site *site, struct pt_regs *regs))
{
	int ret;

	if (unlikely(this_cpu(kprobe_running))) {
		count_missed(site);
		return 0;
	}
	this_cpu(kprobe_running) = site;
	barrier();
	ret = call(site, regs);
	barrier();
	this_cpu(kprobe_running) = NULL;
	return ret;
}

/* The exception has interrupts off, so the count is for what handlers find: they may not sleep. */
__kprobes bool kprobe_breakpoint(unsigned long addr, struct pt_regs *regs)
{
	struct kprobe_site *site = find_site(addr);
	int elsewhere;

	if (!site || site->how != KPROBE_BY_BREAK)
		return false;
	instruction_pointer_set(regs, addr);
	__preempt_count_add(PREEMPT_OFFSET);
	elsewhere = tell(site, regs, call_before);
	__preempt_count_sub(PREEMPT_OFFSET);
	if (!elsewhere)
		instruction_pointer_set(regs, site->code);
	return true;
}

/* From a slot: the place is a jump. `owner`: of the slot's struct kprobe_slot. Any context. */
void kprobe_jumped(struct kprobe_site **owner, struct pt_regs *regs);
__kprobes void kprobe_jumped(struct kprobe_site **owner, struct pt_regs *regs)
{
	struct kprobe_site *site;

	preempt_disable_notrace();
	site = READ_ONCE(*owner);
	if (likely(site))
		tell(site, regs, call_before);
	preempt_enable_notrace();
}

/* From a slot: the instruction has been executed. */
void kprobe_executed(struct kprobe_site **owner, struct pt_regs *regs);
__kprobes void kprobe_executed(struct kprobe_site **owner, struct pt_regs *regs)
{
	struct kprobe_site *site;

	preempt_disable_notrace();
	site = READ_ONCE(*owner);
	if (likely(site))
		tell(site, regs, call_after);
	preempt_enable_notrace();
}

/* At a call site of ftrace, where the pc counts only for users that may change it. */
static void ftrace_hit(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
	struct kprobe_site *site = find_site(ip);
	struct pt_regs *regs = ftrace_get_regs(fregs);
	unsigned long pc;

	if (!site || !site->armed || !regs)
		return;
	pc = instruction_pointer(regs);
	instruction_pointer_set(regs, ip);
	if (tell(site, regs, call_before))
		return;
	instruction_pointer_set(regs, pc);
	tell(site, regs, call_after);
}

static struct ftrace_ops ftrace_probes = {
	.func = ftrace_hit,
	.name = "kprobe",
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION,
};
static unsigned nr_ftrace_probes; /* [kprobe_mutex] */

/* ---- What others ask */

__kprobes unsigned long kprobe_true_pc(unsigned long pc)
{
	const struct kprobe_slot *slot = kprobe_slot_at(pc);

	return slot ? slot->addr : pc;
}

/* What a site has replaced is laid over what is read; a site begins at most its length before `addr`. */
__kprobes bool kprobe_read_text(unsigned long addr, void *to, unsigned len)
{
	if (copy_from_kernel_nofault(to, (const void *)addr, len))
		return false;
	for (unsigned long at = addr - KPROBE_MAX_COPY + 1; at < addr + len; at++) {
		const struct kprobe_site *site = find_site(at);

		if (!site || !site->armed || site->how == KPROBE_BY_FTRACE)
			continue;
		for (unsigned i = 0; i < site->len; i++)
			if (at + i >= addr && at + i < addr + len)
				((u8 *)to)[at + i - addr] = site->original[i];
	}
	return true;
}

/* ---- Changes */

/* All that one stop does. [kprobe_mutex, text_mutex] */
struct change {
	struct kprobe_site *drop;	/* taken out, its text restored */
	struct kprobe_site *add;	/* put in; it takes over the probes of `drop` */
	const struct kprobe_code *code; /* for the slot of `add` */
	struct kprobe *leave, *join;	/* a probe that leaves its list; one that joins that of `site` */
	struct kprobe_site *site;	/* what is armed or disarmed in the end, NULL: nothing */
	bool arm;
};

/*
 * A jump may replace several instructions. A task that was preempted between two of them would go on in the middle of
 * the jump, and so would one that is still in the slot of a probe that was there before, and goes on behind its
 * instruction. While there is such a task the place cannot become a jump.
 */
static __kprobes bool may_jump(const struct kprobe_site *site)
{
	unsigned long end = site->addr + site->len;

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
	struct kprobe_site **at = bucket_of(site->addr);

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
	site->next = *bucket_of(site->addr);
	*bucket_of(site->addr) = site;
}

/* With all other CPUs parked. Not probed itself: it changes what a hit looks at. */
static __kprobes void apply(void *data)
{
	struct change *c = data;

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
	if (c->join)
		list_add_tail(&c->join->list, &c->site->probes);
	kprobe_slots_reap();
	if (c->site)
		write_text(c->site, c->arm);
}

static void stop_and_apply(struct change *c)
{
	mutex_lock(&text_mutex);
	text_patch_stopped(apply, c);
	mutex_unlock(&text_mutex);
}

static bool any_enabled(const struct kprobe_site *site)
{
	const struct kprobe *p;

	list_for_each_entry(p, &site->probes, list)
		if (is_enabled(p))
			return true;
	return false;
}

/* An empty filter would mean all functions, so the user goes before its last site does. 0 or -errno of ftrace. */
static int ask_ftrace(unsigned long addr, bool on)
{
	int err;

	if (!on) {
		if (!--nr_ftrace_probes)
			unregister_ftrace_function(&ftrace_probes);
		return ftrace_set_filter_ip(&ftrace_probes, addr, 1, 0);
	}
	err = ftrace_set_filter_ip(&ftrace_probes, addr, 0, 0);
	if (err || nr_ftrace_probes++)
		return err;
	err = register_ftrace_function(&ftrace_probes);
	if (err) {
		nr_ftrace_probes--;
		ftrace_set_filter_ip(&ftrace_probes, addr, 1, 0);
	}
	return err;
}

/*
 * Make the change, and have its site armed if a probe of its wants that. Where ftrace has to be asked, it calls the
 * site only while that is armed: after the stop that arms it, and up to the one that disarms it. 0 or -errno of ftrace,
 * with the change made and the site not armed.
 */
static int change_site(struct change *c, bool wanted)
{
	struct kprobe_site *site = c->site;
	bool by_ftrace = site && site->how == KPROBE_BY_FTRACE, before = site && site->armed;
	int err = 0;

	c->arm = wanted && !kprobes_all_disarmed;
	if (by_ftrace && before && !c->arm)
		ask_ftrace(site->addr, false);
	stop_and_apply(c);
	if (by_ftrace && !before && c->arm)
		err = ask_ftrace(site->addr, true);
	if (err)
		stop_and_apply(&(struct change){.site = site});
	return err;
}

/* ---- Sites */

/* The site whose jump lies over addr, without beginning there; NULL: there is none. */
static struct kprobe_site *site_over(unsigned long addr)
{
	for (unsigned long at = addr - KPROBE_MAX_COPY + 1; at < addr; at++) {
		struct kprobe_site *site = find_site(at);

		if (site && site->how == KPROBE_BY_JUMP && at + site->len > addr)
			return site;
	}
	return NULL;
}

static bool sites_behind(unsigned long addr, unsigned len)
{
	for (unsigned long at = addr + 1; at < addr + len; at++)
		if (find_site(at))
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

/* A site for addr that is not linked yet, with what its slot will hold in *code. ERR_PTR: as register_kprobe(). */
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
	site->slot = kprobe_slot_get();
	if (!site->slot)
		goto fail;
	err = -EINVAL;
	if (!kallsyms_lookup(addr, &size, &offset, (char[KSYM_NAME_LEN]){}))
		goto fail;
	*code = (struct kprobe_code){
		.addr = addr, .slot = site->slot->text, .owner = &site->slot->owner, .post = post, .jump = jump};
	mutex_lock(&text_mutex);
	err = kprobe_place_changes(addr, 1) ? -EINVAL : arch_kprobe_prepare(code, addr - offset, addr - offset + size);
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

/* The place of `old` is noticed in another way from now on: with calls after the instruction, or without a jump. */
static int replace_site(struct kprobe_site *old, bool post, bool jump)
{
	struct kprobe_code code;
	struct kprobe_site *site = make_site(old->addr, post, jump, &code);
	struct kprobe *p;
	int err;

	if (IS_ERR(site))
		return PTR_ERR(site);
	err = change_site(&(struct change){.drop = old, .add = site, .code = &code, .site = site}, any_enabled(old));
	list_for_each_entry(p, &site->probes, list)
		p->site = site;
	kfree(old);
	return err;
}

/* After a change: a place that could not become a jump gets a breakpoint. 0, -ENOMEM: it stays disarmed. */
static int settle(struct kprobe_site *site)
{
	return site->blocked ? replace_site(site, site->has_post, false) : 0;
}

/* Before a probe joins: a site for addr, or the one that is there, with calls after the instruction if it wants them. */
static int site_for(struct kprobe *p, unsigned long addr, struct kprobe_code *code, struct kprobe_site **site)
{
	struct kprobe_site *over = site_over(addr);
	int err = over ? replace_site(over, over->has_post, false) : 0;

	*site = err ? NULL : find_site(addr);
	if (!err && *site && p->post_handler && (*site)->slot && !(*site)->has_post) {
		err = replace_site(*site, true, false);
		*site = err ? NULL : find_site(addr);
	}
	if (err || *site)
		return err;
	*site = make_site(addr, p->post_handler, kprobes_allow_optimization && !p->post_handler, code);
	return IS_ERR(*site) ? PTR_ERR(*site) : 0;
}

/* ---- Registration */

/* Holds the module whose text addr is in; NULL: the kernel. -EINVAL: neither; -EBUSY: it is going. */
static int hold_module(unsigned long addr, struct module **mod)
{
	int err = 0;

	*mod = NULL;
	if (addr >= (unsigned long)_stext && addr < (unsigned long)_etext)
		return kprobe_is_blacklisted(addr) ? -EINVAL : 0;
	preempt_disable();
	*mod = __module_address(addr);
	if (!*mod || addr - (*mod)->memory[MODULE_TEXT].base >= (*mod)->memory[MODULE_TEXT].size)
		err = -EINVAL;
	else if (!try_module_get(*mod))
		err = -EBUSY;
	preempt_enable();
	return err;
}

/* 0, and the address; -EINVAL, -ENOENT. */
static int find_address(const struct kprobe *p, unsigned long *addr)
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

	p->flags |= KPROBE_FLAG_DISABLED; /* for any_enabled() */
	if (!list_is_singular(&site->probes)) {
		change_site(&(struct change){.site = site, .leave = p}, any_enabled(site));
	} else {
		if (site->how == KPROBE_BY_FTRACE && site->armed)
			ask_ftrace(site->addr, false);
		stop_and_apply(&(struct change){.drop = site, .leave = p});
		kfree(site);
	}
	p->site = NULL;
	p->flags = flags;
}

static int register_locked(struct kprobe *p, unsigned long addr)
{
	struct kprobe_site *site;
	struct kprobe_code code;
	struct change change = {.join = p};
	int err = site_for(p, addr, &code, &site);

	if (err)
		return err;
	change.site = site;
	if (find_site(addr) != site) {
		change.add = site;
		change.code = &code;
	}
	p->site = site;
	err = change_site(&change, is_enabled(p) || any_enabled(site)) ?: settle(site);
	if (err) {
		drop_probe(p);
		return err;
	}
	p->addr = (kprobe_opcode_t *)addr;
	return 0;
}

int register_kprobe(struct kprobe *p)
{
	struct module *mod;
	unsigned long addr;
	int err = find_address(p, &addr);

	if (err)
		return err;
	if (p->flags & ~KPROBE_FLAG_DISABLED)
		return -EINVAL;
	err = hold_module(addr, &mod);
	if (err)
		return err;
	mutex_lock(&kprobe_mutex);
	err = p->site ? -EINVAL : 0;
	if (!err) {
		p->nmissed = 0;
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

static int set_disabled(struct kprobe *p, bool disabled)
{
	int err = -EINVAL;

	mutex_lock(&kprobe_mutex);
	if (p->site) {
		u32 before = p->flags;

		p->flags = disabled ? before | KPROBE_FLAG_DISABLED : before & ~KPROBE_FLAG_DISABLED;
		err = change_site(&(struct change){.site = p->site}, any_enabled(p->site)) ?: settle(p->site);
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
		struct kprobe *p, *behind;

		for (site = kprobe_sites[i]; site; site = next) {
			next = site->next;
			if (site->addr - text->base >= text->size)
				continue;
			if (site->how == KPROBE_BY_FTRACE && site->armed)
				ask_ftrace(site->addr, false);
			stop_and_apply(&(struct change){.drop = site});
			list_for_each_entry_safe(p, behind, &site->probes, list) {
				p->flags |= KPROBE_FLAG_GONE;
				p->site = NULL;
			}
			kfree(site);
		}
	}
	mutex_unlock(&kprobe_mutex);
}

static const struct module_notifier kprobe_notifier = {.going = module_goes};
REGISTER_MODULE_NOTIFIER(kprobe_notifier);

/* Each site in turn, of which `change` may make another one. 0 or the last -errno. */
static int for_each_site(int (*change)(struct kprobe_site *site))
{
	int err = 0;

	for (unsigned i = 0; i < KPROBE_BUCKETS; i++)
		for (struct kprobe_site *site = kprobe_sites[i], *next; site; site = next) {
			next = site->next;
			err = change(site) ?: err;
		}
	return err;
}

static int arm_as_wanted(struct kprobe_site *site)
{
	return change_site(&(struct change){.site = site}, any_enabled(site)) ?: settle(site);
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
	return replace_site(site, false, kprobes_allow_optimization);
}

/* What can be a jump now, and is none yet, becomes one; or no jump is left. */
int kprobes_set_optimization(bool on)
{
	int err;

	mutex_lock(&kprobe_mutex);
	kprobes_allow_optimization = on;
	err = for_each_site(jump_as_allowed);
	err = for_each_site(settle) ?: err;
	mutex_unlock(&kprobe_mutex);
	return err;
}
