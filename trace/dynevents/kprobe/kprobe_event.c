/*
 * Kprobe events: an event that is recorded when the kernel comes to an instruction, or when a function returns.
 *
 *	p[:[GROUP/][EVENT]] [MOD:]SYM[+OFFS]|ADDR [ARGS]
 *	r[MAXACTIVE][:[GROUP/][EVENT]] [MOD:]SYM[+0] [ARGS]	also p ... SYM%return
 *
 * Each is a kprobe or a kretprobe (<trace/kprobes.h>), which is registered with the event and enabled while an array
 * has the event on. A module that a definition names may come later, and go: the event stays, and its probe comes and
 * goes with the module.
 */
#include <kernel/cmdline.h>
#include <kernel/init.h>
#include <kernel/ksyms.h>
#include <kernel/module.h>
#include <kernel/percpu.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <asm/ptrace.h>
#include <trace/kprobes.h>

#include "events/event_file.h"
#include "../probe.h"

struct kprobe_event {
	struct probe probe;
	struct kretprobe rp; /* of a p-event rp.kp alone is in use */
	bool is_return;
	bool registered;      /* [e] else its module is not there */
	bool waits;	      /* [I] for a module that was not there when it was defined */
	char *symbol;	      /* "[MOD:]SYM"; NULL: an address */
	unsigned long offset; /* bytes from the symbol, or the address */
	unsigned long *hits;  /* per CPU */
};

static struct kprobe_event *kprobe_event_of(const struct dyn_event *dev)
{
	return container_of(probe_of(dev), struct kprobe_event, probe);
}

/* ---- A hit */

static int kprobe_event_hit(struct kprobe *kp, struct pt_regs *regs)
{
	struct kprobe_event *k = container_of(kp, struct kprobe_event, rp.kp);

	this_cpu_ptr(k->hits)[0]++;
	return probe_record_at(&k->probe, regs);
}

static int kretprobe_event_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct kprobe_event *k = container_of(ri->rp, struct kprobe_event, rp);
	unsigned long *words = (unsigned long *)ri->data;

	for (unsigned i = 0; i < k->probe.args.nr_entry; i++)
		words[i] = regs_get_kernel_argument(regs, k->probe.args.entry[i]);
	return 0;
}

static int kretprobe_event_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct kprobe_event *k = container_of(ri->rp, struct kprobe_event, rp);
	const struct fetch_source src = {
		.regs = regs, .retval = regs_return_value(regs), .entry = (const unsigned long *)ri->data};
	const unsigned long head[] = {(unsigned long)ri->rp->kp.addr, get_kretprobe_retaddr(ri)};

	this_cpu_ptr(k->hits)[0]++;
	probe_record(&k->probe, &src, head, 0);
	return 0;
}

/* ---- Registration: event_mutex held */

/* All fields of the kretprobe are set again, because a module that went may have left it in any state. */
static int register_probe(struct kprobe_event *k, bool on)
{
	struct kretprobe *rp = &k->rp;
	int err;

	*rp = (struct kretprobe){
		.kp = {.flags = on ? 0 : KPROBE_FLAG_DISABLED, .pre_handler = kprobe_event_hit},
		.handler = kretprobe_event_return,
		.entry_handler = k->probe.args.nr_entry ? kretprobe_event_entry : NULL,
		.data_size = k->probe.args.nr_entry * sizeof(long),
		.maxactive = k->probe.maxactive,
	};
	rp->kp.symbol_name = k->symbol;
	if (k->symbol)
		rp->kp.offset = k->offset;
	else
		rp->kp.addr = (kprobe_opcode_t *)k->offset;
	err = k->is_return ? register_kretprobe(rp) : register_kprobe(&rp->kp);
	k->registered = !err;
	return err;
}

static void unregister_probe(struct kprobe_event *k)
{
	if (!k->registered)
		return;
	if (k->is_return)
		unregister_kretprobe(&k->rp);
	else
		unregister_kprobe(&k->rp.kp);
	k->registered = false;
}

static bool has_gone(const struct kprobe_event *k)
{
	return !k->registered || (k->rp.kp.flags & KPROBE_FLAG_GONE);
}

/* A probe whose module is not there waits for the module. */
static int kprobe_switch_on(struct probe *p, bool on)
{
	struct kprobe_event *k = kprobe_event_of(&p->dev);

	if (has_gone(k))
		return 0;
	if (k->is_return)
		return on ? enable_kretprobe(&k->rp) : disable_kretprobe(&k->rp);
	return on ? enable_kprobe(&k->rp.kp) : disable_kprobe(&k->rp.kp);
}

/*
 * The module's probes are put in again. A probe for which this fails, or which names a symbol of another module that is
 * not there, waits until the module comes the next time.
 */
static void kprobe_module(struct probe *p, struct module *mod, bool comes)
{
	struct kprobe_event *k = kprobe_event_of(&p->dev);
	size_t len = strlen(mod->name);

	if (!comes || !k->symbol || strncmp(k->symbol, mod->name, len) || k->symbol[len] != ':')
		return;
	unregister_probe(k);
	if (!fetch_resolve(&p->args))
		register_probe(k, probe_event_is_on(p->event));
}

static void free_kprobe_event(struct probe *p)
{
	struct kprobe_event *k = kprobe_event_of(&p->dev);

	unregister_probe(k);
	probe_free_parts(p);
	free_percpu(k->hits);
	kfree(k->symbol);
	kfree(k);
}

static const struct probe_class kprobe_class = {
	.letter = 'p',
	.head = PROBE_AT,
	.print_head = probe_print_at,
	.switch_on = kprobe_switch_on,
	.module = kprobe_module,
	.same = probe_same_place,
	.free = free_kprobe_event,
};
static const struct probe_class kretprobe_class = {
	.letter = 'r',
	.head = PROBE_RETURN,
	.print_head = probe_print_return,
	.switch_on = kprobe_switch_on,
	.module = kprobe_module,
	.same = probe_same_place,
	.free = free_kprobe_event,
};

/* ---- Definitions */

/* How many functions, of the module or of the kernel, have this name? At most 2 are counted. */
static unsigned count_symbols(const char *name)
{
	unsigned found = 0;
	struct ksym sym;

	if (strchr(name, ':'))
		return kallsyms_lookup_name(name) ? 1 : 0;
	for (size_t i = 0; i < kallsyms_count() && found < 2; i++)
		found += kallsyms_symbol(i, &sym) && !strcmp(sym.name, name);
	return found ?: kallsyms_lookup_name(name) != 0;
}

static bool module_is_missing(const char *symbol)
{
	bool missing;

	mutex_lock(&module_mutex);
	missing = probe_waits_for_module(symbol);
	mutex_unlock(&module_mutex);
	return missing;
}

/* Is it the first instruction of a function? */
static bool is_entry(const struct kprobe_event *k)
{
	unsigned long addr = k->symbol ? kallsyms_lookup_name(k->symbol) + k->offset : k->offset, offset;

	if (k->symbol && !k->offset)
		return true;
	return kallsyms_lookup(addr, NULL, &offset, (char[KSYM_NAME_LEN]){}) && !offset;
}

/* "SYM[+OFFS][%return]" or an address. */
static int parse_place(struct kprobe_event *k, struct dyn_command *c, char *word)
{
	char *percent, *sign;
	long offset = 0;
	unsigned n;

	if (!kstrtoul(word, 0, &k->offset))
		return 0;
	percent = strchr(word, '%');
	if (percent && strcmp(percent, "%return"))
		return dyn_refuse(c, percent, "Invalid probed address suffix");
	if (percent) {
		*percent = '\0';
		k->is_return = true;
	}
	sign = word + strcspn(word, "+-");
	if (*sign && kstrtol(*sign == '+' ? sign + 1 : sign, 0, &offset))
		return dyn_refuse(c, word, "Invalid probed address or symbol");
	*sign = '\0';
	k->offset = offset;
	if (offset < 0 || offset > U32_MAX)
		return dyn_refuse(c, word, "Invalid probed address or symbol");
	k->symbol = kstrdup(word, GFP_KERNEL);
	if (!k->symbol)
		return -ENOMEM;
	n = count_symbols(k->symbol);
	if (n > 1)
		return dyn_refuse(c, word, "The symbol is not unique");
	k->waits = !n && module_is_missing(k->symbol);
	return n || k->waits ? 0 : dyn_refuse(c, word, "Invalid probed address or symbol");
}

/* "p_vfs_read_0" is the name of an event that has none. */
static void make_name(const struct kprobe_event *k, char *name)
{
	char letter = k->is_return ? 'r' : 'p';

	if (k->symbol)
		scnprintf(name, DYN_NAME_MAX, "%c_%s_%ld", letter, k->symbol, k->offset);
	else
		scnprintf(name, DYN_NAME_MAX, "%c_0x%lx", letter, k->offset);
	for (; *name; name++)
		if (*name == ':' || *name == '.')
			*name = '_';
}

/* As it is written, of an address in hexadecimal. NULL: no memory. */
static char *place_text(const struct kprobe_event *k)
{
	if (!k->symbol)
		return kasprintf(GFP_KERNEL, "0x%lx", k->offset);
	if (k->offset)
		return kasprintf(GFP_KERNEL, "%s+%lu", k->symbol, k->offset);
	return kstrdup(k->symbol, GFP_KERNEL);
}

static const struct dyn_event_kind kprobe_kind;

/*
 * The probe, and the event for it; the probe is first, since it may be refused. module_mutex, so that no module is half
 * there: its names are known, and its call sites are not.
 */
static int add(struct kprobe_event *k, struct dyn_command *c, const char *group, const char *name)
{
	int err;

	mutex_lock(&module_mutex);
	mutex_lock(&event_mutex);
	err = register_probe(k, false);
	if (err == -ENOENT && k->waits)
		err = 0;
	if (err == -EILSEQ)
		dyn_refuse(c, c->words[1], "Probe point is not an instruction boundary");
	else if (err && err != -ENOMEM)
		dyn_refuse(c, c->words[1], "Failed to register probe event");
	if (!err)
		err = probe_add(&k->probe, c, group, name, &kprobe_kind);
	if (err)
		unregister_probe(k);
	mutex_unlock(&event_mutex);
	mutex_unlock(&module_mutex);
	return err;
}

/*
 * The place comes before the name, as on Linux: it may say that the probe is one of a return, and the name may be made
 * of it.
 */
static int parse_all(struct kprobe_event *k, struct dyn_command *c)
{
	char made[DYN_NAME_MAX];
	const char *group = "kprobes", *name = NULL;
	unsigned flags = FETCH_KERNEL;
	int err;

	if (!k->is_return && isdigit(c->words[0][1]))
		return dyn_refuse(c, c->words[0] + 1, "Maxactive is only for function exit");
	err = probe_parse_maxactive(&k->probe, c) ?: parse_place(k, c, c->words[1]);
	if (err)
		return err;
	if (k->is_return && !is_entry(k))
		return dyn_refuse(c, c->words[1], "Retprobe address must be an function entry");
	err = dyn_parse_event(c, &group, &name);
	if (err)
		return err;
	if (!name) {
		make_name(k, made);
		name = made;
	}
	k->probe.at_entry = !k->is_return && is_entry(k);
	flags |= k->is_return ? FETCH_RETURN : k->probe.at_entry ? FETCH_ENTRY : 0;
	k->probe.place = place_text(k);
	if (!k->probe.place)
		return -ENOMEM;
	return probe_parse_args(&k->probe, c, k->is_return ? &kretprobe_class : &kprobe_class, flags, NULL)
		       ?: add(k, c, group, name);
}

/* The letter alone does not tell: uprobes begin with the same ones. */
static int kprobe_create(struct dyn_command *c)
{
	const char *word = c->words[0];
	struct kprobe_event *k;
	int err;

	if ((*word != 'p' && *word != 'r') || (word[1] && word[1] != ':' && !isdigit(word[1])) || c->nr < 2)
		return DYN_NOT_MINE;
	/* "/bin/sh:0x4f0" is a place in a file. */
	if (strchr(c->words[1], '/') && strchr(c->words[1], ':'))
		return DYN_NOT_MINE;
	k = kzalloc(sizeof(*k), GFP_KERNEL);
	if (!k)
		return -ENOMEM;
	k->is_return = *word == 'r';
	k->hits = alloc_percpu(unsigned long);
	err = k->hits ? parse_all(k, c) : -ENOMEM;
	if (err)
		free_kprobe_event(&k->probe);
	return err;
}

static const struct dyn_event_kind kprobe_kind = {
	.file = "kprobe_events",
	.log = "trace_kprobe",
	.create = kprobe_create,
	.show = probe_show,
	.call = probe_call,
	.free = probe_free,
	.match = probe_match,
};
REGISTER_DYN_EVENT_KIND(kprobe_kind);
DYN_EVENT_FILE(kprobe_events, "kprobe_events");

/* ---- kprobe_profile: hits, and those that were missed */

static unsigned long missed_by(const struct kprobe_event *k)
{
	return k->is_return ? (unsigned)READ_ONCE(k->rp.nmissed) + READ_ONCE(k->rp.at_entry.nmissed)
			    : READ_ONCE(k->rp.kp.nmissed);
}

/* In the order of the definitions. A CPU that counts meanwhile is seen a moment early or late. */
static int kprobe_profile_show(struct seq_file *m, void *data)
{
	struct dyn_event *dev;

	mutex_lock(&event_mutex);
	for_each_dyn_event(dev) {
		const struct kprobe_event *k = kprobe_event_of(dev);
		unsigned long hits = 0;
		unsigned cpu;

		if (dev->kind != &kprobe_kind)
			continue;
		for_each_possible_cpu(cpu)
			hits += *per_cpu_ptr(k->hits, cpu);
		seq_printf(m, "  %-44s %15lu %15lu\n", k->probe.event->name, hits, missed_by(k));
	}
	mutex_unlock(&event_mutex);
	return 0;
}
TRACEFS_TEXT_FILE(kprobe_profile, "kprobe_profile", 0440, TRACEFS_TOP, kprobe_profile_show, NULL);

/* ---- Modules, and the command line */

static int watch_modules(void)
{
	kprobe_module_came = probe_module_came;
	return 0;
}
core_initcall(watch_modules);

__setup_text("kprobe_event=", dyn_event_boot_lines);
