/*
 * The life of modules: how one is loaded, and how it goes (include/kernel/module.h tells their states). The system
 * calls are in syscalls.c and unload.c, references in refs.c. The list and module_mutex are in kernel/module_list.c.
 *
 * module_mutex serialises all changes. It is not held while a module's own init and exit run, or while its parameters
 * are set: these may load other modules, sleep, or wait for programs. The name is taken from the first moment on, so no
 * module is loaded twice. A look-up of a module by an address needs no lock, only preemption off: the list is changed
 * by single stores, and a module's memory is freed a grace period after it has left the list.
 *
 * Nothing of a module may run any more when its memory goes. Its callbacks are the business of its own exit. What the
 * kernel knows of it, its call sites, tracepoints and names, goes by the notifiers. A CPU that is still inside one of
 * its functions with preemption off, a probe for example, is waited for by the grace period.
 */
#include "internal.h"

#include <generated/vermagic.h>
#include <kernel/export.h>
#include <kernel/init.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <sched/sched.h>
#include <sched/wait.h>
#include <time/jiffies.h>
#include <trace/events/module.h>
#include <trace/events/notifier.h>

/* Loaders that want the same name, or a symbol, wait here until a module is through with its init. */
static DECLARE_WAIT_QUEUE_HEAD(module_wait);

int module_refuse(const struct load_info *info, int err, const char *fmt, ...)
{
	char text[200];
	va_list args;

	va_start(args, fmt);
	vscnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	pr_err("%s: %s\n", info->name ?: info->file_name ?: "module", text);
	return err;
}

/* ---- Telling others */

/*
 * Exit has returned, or loading has failed. The last one first: each may rely on those that stand before it in the
 * table, as they are told later. [module_mutex]
 */
static void tell_going(struct module *mod)
{
	for (struct module_notifier *const *n = END_NOTIFIERS; n-- > FIRST_NOTIFIER;)
		if ((*n)->going) {
			trace_notifier_run((void *)(*n)->going);
			(*n)->going(mod);
		}
}

/* [module_mutex] From `n` on, up to `end` or the first one that refuses. */
static int tell_coming(struct module *mod, struct module_notifier *const *n, struct module_notifier *const *end)
{
	int err = 0;

	for (; n < end && !err; n++)
		if ((*n)->coming) {
			trace_notifier_run((void *)(*n)->coming);
			err = (*n)->coming(mod);
		}
	return err;
}

/* init has returned 0, and what only it needed goes: the last one first, as above. [module_mutex] */
static void tell_live(struct module *mod)
{
	for (struct module_notifier *const *n = END_NOTIFIERS; n-- > FIRST_NOTIFIER;)
		if ((*n)->live) {
			trace_notifier_run((void *)(*n)->live);
			(*n)->live(mod);
		}
}

/* ---- Loading */

/*
 * A kernel that is not the one it was built for has other structures: nothing in the module would be where it looks.
 * The magic is Linux's (release, SMP, preemption) with a sum over all headers at its end, so that an edited header is
 * enough. From here on messages have the module's name in front, if it has told a good one.
 */
static int check_modinfo(struct load_info *info)
{
	const char *magic = modinfo_get(info, "vermagic"), *name = modinfo_get(info, "name");

	if (name && strlen(name) < MODULE_NAME_LEN)
		info->name = name;
	if (!magic || strcmp(magic, VERMAGIC_STRING)) {
		module_refuse(info, 0, "version magic '%s' should be '%s'", magic ?: "", VERMAGIC_STRING);
		return module_refuse(info, -ENOEXEC,
				     "it was built for another kernel: build it again with "
				     "`make -C THIS_TREE M=ITS_FOLDER modules`");
	}
	return 0;
}

/*
 * Whether it may use what is exported by EXPORT_SYMBOL_GPL. "GPL", "GPL v2", "Dual MIT/GPL" and the like: Linux's list
 * of what is compatible.
 */
static bool license_is_gpl(const char *license)
{
	static const char *const good[] = {"GPL",	   "GPL v2",	   "GPL and additional rights",
					   "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"};

	for (unsigned i = 0; license && i < ARRAY_SIZE(good); i++)
		if (!strcmp(license, good[i]))
			return true;
	return false;
}

/*
 * A word of modinfo in the module's own memory, where it stays: the copy of the file is freed when init has returned.
 * The section goes to memory as it is, so the word has the same offset there.
 */
static const char *kept_info(const struct load_info *info, const char *name)
{
	const char *value = modinfo_get(info, name);

	return value ? (const char *)info->sections[find_section(info, ".modinfo")].sh_addr + (value - info->modinfo)
		     : NULL;
}

/*
 * The struct module stands in the module's own data, which has just been copied from the file. The name that
 * the build wrote there stays; init and exit are relocations, and the loader fills in the rest.
 */
static struct module *settle_struct(const struct module *laid_out, const struct load_info *info)
{
	struct module *mod = (struct module *)info->sections[info->this_module].sh_addr;
	char name[MODULE_NAME_LEN];

	memcpy(name, mod->name, sizeof(name));
	*mod = *laid_out;
	memcpy(mod->name, name, sizeof(name));
	mod->state = MODULE_STATE_UNFORMED;
	atomic_set(&mod->refcnt, 1);
	INIT_LIST_HEAD(&mod->list);
	INIT_LIST_HEAD(&mod->uses);
	INIT_LIST_HEAD(&mod->used_by);
	INIT_LIST_HEAD(&mod->files);
	mutex_init(&mod->param_lock);
	mod->init_data = mod->memory[MODULE_INIT_DATA];
	mod->version = kept_info(info, "version");
	mod->taints = !license_is_gpl(modinfo_get(info, "license"));
	return mod;
}

/*
 * The name comes from the file and need not be one that the build has made. It must consist of letters, digits and _,
 * because it becomes the name of a directory below /sys/module.
 */
static bool is_module_name(const char *name)
{
	size_t n = strnlen(name, MODULE_NAME_LEN);

	if (!n || n == MODULE_NAME_LEN)
		return false;
	for (; *name; name++)
		if (!isalnum(*name) && *name != '_')
			return false;
	return true;
}

/* Memory for the module with its sections in it. The struct module, or ERR_PTR. */
static struct module *place_module(struct load_info *info)
{
	struct module laid_out = {}, *mod;
	int err;

	if (info->sections[info->this_module].sh_size != sizeof(struct module))
		return ERR_PTR(module_refuse(info, -ENOEXEC, "its struct module has another size than this kernel's"));
	err = module_layout(&laid_out, info);
	if (err) {
		module_free_memory(&laid_out);
		return ERR_PTR(err);
	}
	mod = settle_struct(&laid_out, info);
	if (is_module_name(mod->name)) {
		info->name = mod->name;
		return mod;
	}
	module_free_memory(mod);
	return ERR_PTR(module_refuse(info, -ENOEXEC, "it has no name"));
}

/*
 * Counts the modules that have come or gone, so that tasks that wait for a name look again. [module_mutex for changes]
 */
static unsigned module_changes;

/*
 * The count is what they wait for, not the state of a module, which may be freed while they sleep. [module_mutex, or
 * the loader is dead: then counts that are lost do no harm]
 */
void module_tell_waiters(void)
{
	WRITE_ONCE(module_changes, module_changes + 1);
	wake_up_all(&module_wait);
}

int module_wait_for_change(long *left)
{
	unsigned seen = module_changes;

	mutex_unlock(&module_mutex);
	*left = wait_event_killable_timeout(&module_wait, READ_ONCE(module_changes) != seen, *left);
	mutex_lock(&module_mutex);
	if (module_loader_is_dead())
		return -EPERM;
	return *left > 0 ? 0 : *left ? -EINTR : -EBUSY;
}

/*
 * [module_mutex] The errno for a name that another module has. A load of it that is under way is waited for, but a
 * failed one is not tried again, as on Linux: many devices of a kind ask for their driver at the same time, and each
 * load would wait for the failures of all others. -EEXIST: the module is there; -EBUSY: it is going, or has failed;
 * -EINTR.
 */
static int taken_name_error(const char *name)
{
	struct module *other;

	while ((other = find_module(name)) && other->state != MODULE_STATE_LIVE && other->state != MODULE_STATE_GOING) {
		unsigned seen = module_changes;
		int err;

		mutex_unlock(&module_mutex);
		err = wait_event_interruptible(&module_wait, READ_ONCE(module_changes) != seen);
		mutex_lock(&module_mutex);
		if (err || module_loader_is_dead())
			return err ? -EINTR : -EPERM;
	}
	return other && other->state == MODULE_STATE_LIVE ? -EEXIST : -EBUSY;
}

/* [module_mutex] From here on the name is this module's. Errors: taken_name_error(). */
static int take_name(struct module *mod)
{
	if (find_module(mod->name))
		return taken_name_error(mod->name);
	mod->list.next = modules.next;
	mod->list.prev = &modules;
	modules.next->prev = &mod->list;
	smp_store_release(&modules.next, &mod->list);
	return 0;
}

/*
 * [module_mutex] Take the module out of the list, drop its names and its sources, and wait for every CPU that still
 * looks at it.
 *
 * WHY ITS MEMORY MAY GO. Everything that could still lead a CPU into it has been taken away, in this order:
 *
 *	references	the count is 0 (stop_module, end_references): no file of it is open, no other module uses it.
 *			One that was never COMING has never had any (try_module_get)
 *	its own calls	timers, works, threads, interrupts, callbacks: exit has ended them, and each such call waits
 *	parameters	module_leave_files() has waited until no task reads or writes one
 *	probes		its tracepoints and its probes at those of others: off, and a grace period waited for
 *	traced sites	they become nops, and their records go, while all other CPUs are parked (trace/modules/sites.c)
 *	branches	its entries have left the table of static branches, so no later change of a key writes to it
 *	texts		`free` of a parameter, the last code of it that runs
 *	look-ups	a CPU with preemption off that has found it in the list or by a name: synchronize_rcu() below
 *
 * A function of it that function_graph has hooked does not keep it: what is kept on the task's return stack is the
 * return address of the caller, and a frame of the module itself is what exit has waited for. Records in the ring
 * buffer hold plain addresses, and module_retire_symbols() leaves names for these.
 *
 * Sources are released before the grace period. They cannot go meanwhile, as unloading one needs module_mutex.
 */
static void forget_module(struct module *mod)
{
	if (mod->load_was_told) /* each module_free has its module_load: a module that was refused has neither */
		trace_module_free(mod);
	if (mod->state != MODULE_STATE_UNFORMED) /* else nothing in it is relocated */
		module_free_params(mod);
	module_retire_symbols(mod);
	if (!list_empty(&mod->list)) {
		mod->list.prev->next = mod->list.next;
		mod->list.next->prev = mod->list.prev;
	}
	module_unuse(mod);
	synchronize_rcu();
	kvfree(mod->sites);
	module_free_memory(mod);
	module_tell_waiters();
}

/*
 * [module_mutex] From the file's numbers to code that can run. After an error the caller forgets it: at once if its
 * state is UNFORMED, for then nobody can have a reference, and else as an init that fails.
 */
static int form_module(struct module *mod, struct load_info *info)
{
	int err = module_resolve(mod, info);

	if (!err)
		err = module_relocate(mod, info);
	if (!err)
		err = module_check_pointers(mod, info);
	if (!err)
		err = module_add_symbols(mod, info);
	if (err)
		return err;
	module_protect(mod);
	err = tell_coming(mod, FIRST_NOTIFIER, __start_ptrs_module_notifiers);
	if (err) {
		tell_going(mod);
		return err;
	}
	/* Its code can run. References are given, probes are put into it, its parameters are written. */
	WRITE_ONCE(mod->state, MODULE_STATE_COMING);
	return tell_coming(mod, __start_ptrs_module_notifiers, END_NOTIFIERS);
}

/*
 * There may be references to a module that is GOING: a program has opened a device that an init had registered before
 * it failed, a probe was just put into its text. No new one is given; those that are there are waited for, as their
 * holders run the module's code. The step from 1 to 0 decides against a try_module_get() that has seen the state of
 * before. It is 0 already if the module was stopped. 0; -EINTR: killed.
 */
static int end_references(struct module *mod)
{
	while (atomic_read(&mod->refcnt) && atomic_cmpxchg(&mod->refcnt, 1, 0) != 1) {
		if (fatal_signal_pending(current))
			return -EINTR;
		msleep(10);
	}
	return 0;
}

/* Each step may be made again, and is then over at once: so whoever takes the module up begins with the first. */
int module_let_go(struct module *mod)
{
	int err = end_references(mod), locked;

	if (!err)
		err = module_leave_files(mod);
	locked = module_lock_again();
	if (locked)
		return locked;
	mod->abandoned = err;
	if (err) {
		pr_warn("%s: it stays half unloaded, since a signal came meanwhile: rmmod takes it up again\n",
			mod->name);
		module_tell_waiters();
	} else {
		tell_going(mod);
		forget_module(mod);
	}
	mutex_unlock(&module_mutex);
	return err;
}

static void module_failed(struct module *mod, const char *what)
{
	WRITE_ONCE(mod->state, MODULE_STATE_GOING);
	if (module_refcount(mod))
		pr_warn("%s: %s failed, and %d open files or others hold it: it goes when they let go\n", mod->name,
			what, module_refcount(mod));
	module_let_go(mod);
}

/*
 * init has returned 0: what only it needed goes. An exit in there is forgotten: stop_module() says so later. When the
 * loader is dead all of it stays.
 */
static void module_succeeded(struct module *mod)
{
	module_free_init_params(mod); /* without module_mutex: who sets one may wait for that */
	if (module_lock_again()) {
		WRITE_ONCE(mod->state, MODULE_STATE_LIVE);
		module_tell_waiters();
		return;
	}
	WRITE_ONCE(mod->state, MODULE_STATE_LIVE);
	tell_live(mod);
	module_retire_init_symbols(mod);
	if (mod->init_memory) {
		if (in_part(&mod->memory[MODULE_INIT_TEXT], (unsigned long)mod->exit))
			mod->exit = NULL;
		synchronize_rcu();
		module_free_init(mod);
	}
	module_tell_waiters();
	mutex_unlock(&module_mutex);
}

/*
 * Its parameters and its init, without a lock: both may load other modules. Afterwards what only init needed is gone,
 * or, after an error, the whole module.
 */
static int run_init(struct module *mod, char *args)
{
	int ret = module_parse_params(mod, args);

	if (ret) {
		module_failed(mod, "it");
		return ret;
	}
	trace_module_load(mod);
	mod->load_was_told = true;
	ret = mod->init ? do_one_initcall(mod->init) : 0;
	if (ret > 0) {
		pr_warn("%s: its init returned %d: 0 means success, a negative errno failure\n", mod->name, ret);
		ret = 0;
	}
	if (ret)
		module_failed(mod, "its init has");
	else
		module_succeeded(mod);
	return ret;
}

/*
 * [module_mutex, which it releases] Take the name and form the module. 0, or -errno, and nothing is left: a module that
 * was COMING has failed as one whose init fails. Of a loader that is dead all stays as it is.
 */
static int make_known(struct module *mod, struct load_info *info)
{
	int err = take_name(mod);
	bool formed;

	if (!err)
		err = form_module(mod, info);
	formed = mod->state == MODULE_STATE_COMING;
	if (!formed && !module_loader_is_dead())
		forget_module(mod);
	mutex_unlock(&module_mutex);
	if (err && formed)
		module_failed(mod, "it");
	return err;
}

/*
 * What can be done without module_mutex is done before it is taken: checking and copying a large file would keep others
 * from reading /proc/modules.
 */
int load_module(const char *file_name, void *file, size_t len, char *args)
{
	struct load_info info = {.file = file, .len = len, .file_name = file_name};
	struct module *mod;
	int err = module_check_sum(&info);

	if (!err)
		err = elf_module_check(&info);
	if (!err)
		err = check_modinfo(&info);
	if (err)
		return err;
	mod = place_module(&info);
	if (IS_ERR(mod))
		return PTR_ERR(mod);
	err = module_lock();
	if (err) {
		module_free_memory(mod);
		return err;
	}
	return make_known(mod, &info) ?: run_init(mod, args);
}
