/*
 * Fprobe events: an event that is recorded when a function is called, or when it returns.
 *
 *	f:[GROUP/][EVENT] FUNC [ARGS]			FUNC: a name, a pattern, or MODULE:NAME
 *	f[MAXACTIVE]:[GROUP/][EVENT] FUNC%return [ARGS]		also f ... FUNC [ARGS] with $retval in them
 *
 * Each is an fprobe (<trace/fprobe.h>) that is registered while an array has the event on. Its functions are looked up
 * when it is defined. A module that the line names may come later, and go: then its function is looked up again.
 *
 * Where gcc's hook comes behind the prologue (FTRACE_REGS_ARGS is 0), a call site has neither the arguments nor the
 * stack of the entry. There an event that wants these has a kprobe at the first instruction of each function, or a
 * kretprobe, in place of the fprobe.
 */
#include <asm/ftrace.h>
#include <asm/ptrace.h>
#include <kernel/ksyms.h>
#include <kernel/module.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <trace/fprobe.h>
#include <trace/kprobes.h>

#include "events/event_file.h"
#include "../probe.h"

#define BY_KPROBES_MAX 128 /* functions: a kprobe costs a change of the text each */

struct fprobe_event;
struct function_probe {
	struct kretprobe rp; /* at an entry rp.kp alone is in use */
	struct fprobe_event *of;
};

struct fprobe_event {
	struct probe probe;
	struct fprobe fp;	       /* [e] registered: the event is on */
	struct function_probe *places; /* [e] in place of fp; NULL: off */
	unsigned long *addrs;	       /* [e] of the functions, ascending */
	unsigned nr;		       /* [e] of them; 0: the module is not there */
	char *symbol;		       /* [I] as it was written, without %return */
	bool is_return, by_kprobes;    /* [I] */
};

static struct fprobe_event *fprobe_event_of(const struct probe *p)
{
	return container_of(p, struct fprobe_event, probe);
}

/* ---- A hit */

static void record_hit(const struct fprobe_event *f, const struct fetch_source *src, unsigned long func,
		       unsigned long ret)
{
	const unsigned long head[] = {func, ret};

	probe_record(&f->probe, src, head, 0);
}

/* The function that has its site at ip: the last one that does not begin behind it. */
static unsigned long function_at(const struct fprobe_event *f, unsigned long ip)
{
	unsigned low = 0, high = f->nr;

	while (high - low > 1) {
		unsigned middle = low + (high - low) / 2;

		if (f->addrs[middle] <= ip)
			low = middle;
		else
			high = middle;
	}
	return f->addrs[low];
}

static void keep_arguments(const struct fprobe_event *f, const struct pt_regs *regs, unsigned long *words)
{
	for (unsigned i = 0; i < f->probe.args.nr_entry; i++)
		words[i] = regs_get_kernel_argument(regs, f->probe.args.entry[i]);
}

static int fprobe_event_entry(struct fprobe *fp, unsigned long ip, unsigned long ret_ip, struct pt_regs *regs,
			      void *data)
{
	const struct fprobe_event *f = container_of(fp, struct fprobe_event, fp);
	unsigned long func = function_at(f, ip);
	const struct fetch_source src = {.regs = regs, .at_entry = func == ip};

	if (f->is_return)
		keep_arguments(f, regs, data);
	else
		record_hit(f, &src, func, 0);
	return 0;
}

static void fprobe_event_exit(struct fprobe *fp, unsigned long ip, unsigned long ret_ip, struct pt_regs *regs,
			      void *data)
{
	const struct fprobe_event *f = container_of(fp, struct fprobe_event, fp);
	const struct fetch_source src = {.regs = regs, .retval = regs_return_value(regs), .entry = data};

	record_hit(f, &src, function_at(f, ip), ret_ip);
}

static int kprobe_entry(struct kprobe *kp, struct pt_regs *regs)
{
	const struct fetch_source src = {.regs = regs, .at_entry = true};

	record_hit(container_of(kp, struct function_probe, rp.kp)->of, &src, (unsigned long)kp->addr, 0);
	return 0;
}

static int kretprobe_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	keep_arguments(container_of(ri->rp, struct function_probe, rp)->of, regs, (unsigned long *)ri->data);
	return 0;
}

static int kretprobe_exit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct fetch_source src = {
		.regs = regs, .retval = regs_return_value(regs), .entry = (const unsigned long *)ri->data};

	record_hit(container_of(ri->rp, struct function_probe, rp)->of, &src, (unsigned long)ri->rp->kp.addr,
		   get_kretprobe_retaddr(ri));
	return 0;
}

/* ---- On and off: event_mutex held */

static void remove_kprobes(struct fprobe_event *f, unsigned nr)
{
	while (nr--)
		if (f->is_return)
			unregister_kretprobe(&f->places[nr].rp);
		else
			unregister_kprobe(&f->places[nr].rp.kp);
	kvfree(f->places);
	f->places = NULL;
}

/* At all functions, or at none. */
static int place_kprobes(struct fprobe_event *f)
{
	unsigned n = 0;
	int err = 0;

	f->places = kvzalloc(f->nr * sizeof(f->places[0]), GFP_KERNEL);
	if (!f->places)
		return -ENOMEM;
	for (; n < f->nr; n++) {
		struct kretprobe *rp = &f->places[n].rp;

		f->places[n].of = f;
		rp->kp.addr = (kprobe_opcode_t *)f->addrs[n];
		if (f->is_return) {
			rp->handler = kretprobe_exit;
			rp->entry_handler = kretprobe_entry;
			rp->data_size = f->probe.args.nr_entry * sizeof(long);
			rp->maxactive = f->probe.maxactive;
			err = register_kretprobe(rp);
		} else {
			rp->kp.pre_handler = kprobe_entry;
			err = register_kprobe(&rp->kp);
		}
		if (err)
			break;
	}
	if (err)
		remove_kprobes(f, n);
	return err;
}

/* A probe whose module is not there waits for the module. */
static int fprobe_switch_on(struct probe *p, bool on)
{
	struct fprobe_event *f = fprobe_event_of(p);

	if (!on) {
		if (f->places)
			remove_kprobes(f, f->nr);
		if (fprobe_is_registered(&f->fp))
			unregister_fprobe(&f->fp);
		return 0;
	}
	if (!f->nr)
		return 0;
	if (f->by_kprobes)
		return place_kprobes(f);
	f->fp = (struct fprobe){
		.entry_handler = !f->is_return || p->args.nr_entry ? fprobe_event_entry : NULL,
		.exit_handler = f->is_return ? fprobe_event_exit : NULL,
		.entry_data_size = p->args.nr_entry * sizeof(long),
		.nr_maxactive = p->maxactive,
	};
	return register_fprobe_ips(&f->fp, f->addrs, f->nr);
}

/* ---- Functions: module_mutex held */

/*
 * Find the functions that have a call site; with `addrs` NULL only count them. A pattern finds only the kernel's own
 * functions.
 */
static unsigned match_functions(const char *symbol, unsigned long *addrs)
{
	unsigned long last = 0, addr;
	struct ksym sym;
	unsigned n = 0;

	for (size_t i = 0; i < kallsyms_count(); i++) {
		if (!kallsyms_symbol(i, &sym) || sym.address == last || !glob_match(symbol, sym.name) ||
		    !ftrace_location(sym.address))
			continue;
		last = sym.address;
		if (addrs)
			addrs[n] = last;
		n++;
	}
	addr = n ? 0 : kallsyms_lookup_name(symbol);
	if (!addr || !ftrace_location(addr))
		return n;
	if (addrs)
		addrs[0] = addr;
	return 1;
}

/* 0 and f->nr, which may be 0; -ENOMEM. */
static int find_functions(struct fprobe_event *f)
{
	unsigned n = match_functions(f->symbol, NULL);

	kvfree(f->addrs);
	f->nr = 0;
	f->addrs = n ? kvzalloc(n * sizeof(f->addrs[0]), GFP_KERNEL) : NULL;
	if (!n || !f->addrs)
		return n ? -ENOMEM : 0;
	f->nr = match_functions(f->symbol, f->addrs);
	return 0;
}

/*
 * The functions of a module that goes are forgotten, since another module may be loaded at their addresses. When an
 * argument names a symbol that is not there, the probe waits until its module comes the next time.
 */
static void fprobe_module(struct probe *p, struct module *mod, bool comes)
{
	struct fprobe_event *f = fprobe_event_of(p);

	if (!comes && f->nr && module_frees(mod, f->addrs[0])) {
		fprobe_switch_on(p, false);
		f->nr = 0;
	} else if (comes && !f->nr && !find_functions(f) && f->nr) {
		if (fetch_resolve(&p->args))
			f->nr = 0;
		else if (probe_event_is_on(p->event))
			fprobe_switch_on(p, true);
	}
}

static void free_fprobe_event(struct probe *p)
{
	struct fprobe_event *f = fprobe_event_of(p);

	probe_free_parts(p);
	kvfree(f->addrs);
	kfree(f->symbol);
	kfree(f);
}

static const struct probe_class entry_class = {
	.letter = 'f',
	.head = PROBE_AT,
	.below = true,
	.print_head = probe_print_at,
	.switch_on = fprobe_switch_on,
	.module = fprobe_module,
	.same = probe_same_place,
	.free = free_fprobe_event,
};
static const struct probe_class exit_class = {
	.letter = 'f',
	.head = PROBE_RETURN,
	.below = true,
	.print_head = probe_print_return,
	.switch_on = fprobe_switch_on,
	.module = fprobe_module,
	.same = probe_same_place,
	.free = free_fprobe_event,
};

/* ---- Definitions */

/* Does an argument name $retval? Then the probe is one of the return, as on Linux. */
static bool wants_result(const struct dyn_command *c)
{
	for (unsigned i = 2; i < c->nr; i++) {
		const char *at = strstr(c->words[i], "$retval");

		if (at && !isalnum(at[7]) && at[7] != '_')
			return true;
	}
	return false;
}

/* "FUNC[%return]" */
static int parse_symbol(struct fprobe_event *f, struct dyn_command *c)
{
	char *word = c->words[1], *percent = strchr(word, '%');

	if (percent && strcmp(percent, "%return"))
		return dyn_refuse(c, percent, "Invalid probed address suffix");
	f->is_return = percent || wants_result(c);
	f->symbol = kstrndup(word, strcspn(word, "%"), GFP_KERNEL);
	f->probe.place = kasprintf(GFP_KERNEL, "%s%s", f->symbol ?: "", f->is_return ? "%return" : "");
	return f->symbol && f->probe.place ? 0 : -ENOMEM;
}

/* Does the event need what the call site does not have: arguments, or the stack of the entry? */
static bool needs_kprobes(const struct fprobe_event *f)
{
	bool needs = f->probe.args.nr_entry;

	for (unsigned i = 0; i < f->probe.args.nr && !f->is_return; i++) {
		unsigned op = f->probe.args.args[i]->op;

		needs |= op == FETCH_ARG || op == FETCH_STACK || op == FETCH_STACKP;
	}
	return needs && !FTRACE_REGS_ARGS;
}

/* Are there functions, or may they come with a module? */
static int check_functions(struct fprobe_event *f, struct dyn_command *c)
{
	f->by_kprobes = needs_kprobes(f);
	if (f->by_kprobes && f->nr > BY_KPROBES_MAX) {
		dyn_refuse(c, c->words[1], "Too many functions, of which each needs a kprobe for its arguments");
		return -E2BIG;
	}
	if (f->nr || probe_waits_for_module(f->symbol))
		return 0;
	if (kallsyms_lookup_name(f->symbol))
		return dyn_refuse(c, c->words[1], "Failed to register probe event");
	dyn_refuse(c, c->words[1], "Invalid probed address or symbol");
	return -ENOENT;
}

/* Takes module_mutex, so that a module whose function was found cannot go before fprobe_module() can be told of it. */
static int add(struct fprobe_event *f, struct dyn_command *c, const char *group, const char *name)
{
	int err;

	mutex_lock(&module_mutex);
	mutex_lock(&event_mutex);
	err = find_functions(f) ?: check_functions(f, c) ?: probe_add(&f->probe, c, group, name, &fprobe_kind);
	mutex_unlock(&event_mutex);
	mutex_unlock(&module_mutex);
	return err;
}

/* The order is Linux's: an error in several words is told of the first one that is looked at. */
static int parse_all(struct fprobe_event *f, struct dyn_command *c)
{
	char made[DYN_NAME_MAX];
	const char *group = "fprobes", *name = NULL;
	int err = probe_parse_maxactive(&f->probe, c) ?: parse_symbol(f, c);

	if (err)
		return err;
	if (f->probe.maxactive && !f->is_return)
		return dyn_refuse(c, c->words[0] + 1, "Maxactive is only for function exit");
	err = dyn_parse_event(c, &group, &name);
	if (!name) {
		scnprintf(made, sizeof(made), "%s__%s", f->symbol, f->is_return ? "exit" : "entry");
		for (char *at = made; *at; at++)
			*at = isalnum(*at) ? *at : '_';
		name = made;
	}
	return err ?: probe_parse_args(&f->probe, c, f->is_return ? &exit_class : &entry_class,
				       FETCH_KERNEL | FETCH_NO_REGS | (f->is_return ? FETCH_RETURN : FETCH_ENTRY), NULL)
			      ?: add(f, c, group, name);
}

/* No other kind begins with this letter. What an error leaves of it is freed. */
static int fprobe_create(struct dyn_command *c)
{
	const char *word = c->words[0];
	struct fprobe_event *f;
	int err;

	if (*word != 'f' || (word[1] && word[1] != ':' && !isdigit(word[1])) || c->nr < 2)
		return DYN_NOT_MINE;
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	err = parse_all(f, c);
	if (err)
		free_fprobe_event(&f->probe);
	return err;
}

/* Behind the name may stand the function, with or without %return, and arguments. */
static bool fprobe_match(const struct dyn_event *dev, const char *group, const char *event, char **rest)
{
	const struct probe *p = probe_of(dev);
	size_t len = strcspn(p->place, "%");

	if (!probe_names_match(p, group, event))
		return false;
	if (!rest[0])
		return true;
	return !strncmp(rest[0], p->place, len) && (!rest[0][len] || !strcmp(rest[0] + len, p->place + len)) &&
	       probe_args_match(p, rest + 1);
}

const struct dyn_event_kind fprobe_kind = {
	.log = "trace_fprobe",
	.create = fprobe_create,
	.show = probe_show,
	.call = probe_call,
	.free = probe_free,
	.match = fprobe_match,
};
REGISTER_DYN_EVENT_KIND(fprobe_kind);
