/*
 * /sys/module: a directory for each module, with what Linux shows there: coresize, initsize, initstate, refcnt, taint,
 * version, the module's parameters, the addresses of its sections, and its holders, the modules that use it.
 *
 * A file may be open when its module goes. So a file does not lead to the module but to a struct module_file, which
 * lives as long as the file's inode and says which module it is about, or that this one has gone. A task that reads or
 * writes a file is counted in its module. A module that goes is taken out of its files, and waits for those that were
 * counted. After that no file leads to the module, and no function of a parameter runs.
 *
 * A task that reads or writes a parameter holds the module's param_lock, too. The other files need no lock: a `set` may
 * wait for another module, and the modprobe that loads it reads what is known of this one.
 */
#include "internal.h"

#include <fs/libfs.h>
#include <kernel/init.h>
#include <kernel/ksyms.h>
#include <kernel/moduleparam.h>
#include <kernel/printk.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <sched/sched.h>
#include <time/jiffies.h>

struct module_file {
	struct list_head list; /* [module_files_lock] mod->files */
	struct module *mod;    /* [module_files_lock] NULL: it has gone */
	const void *what;      /* for these two: the parameter, the section */
	int (*show)(struct seq_file *m, const struct module *mod, const void *what);
	int (*store)(char *text, const struct module *mod, const void *what); /* NULL: it cannot be written */
	bool of_param;							      /* show and store need param_lock */
};

/* The file's module. It stays, and no other writer sets the parameter, until end_use(). NULL: it has gone. */
static struct module *begin_use(const struct module_file *file)
{
	struct module *mod;

	mutex_lock(&module_files_lock);
	mod = file->mod;
	if (mod)
		atomic_inc(&mod->file_users);
	mutex_unlock(&module_files_lock);
	if (mod && file->of_param)
		mutex_lock(&mod->param_lock);
	return mod;
}

static void end_use(const struct module_file *file, struct module *mod)
{
	if (file->of_param)
		mutex_unlock(&mod->param_lock);
	atomic_dec_return(&mod->file_users); /* the last look at it, behind all others */
}

static int module_file_show(struct seq_file *m, void *data)
{
	const struct module_file *file = data;
	struct module *mod = begin_use(file);
	int err;

	if (!mod)
		return -ENODEV;
	err = file->show(m, mod, file->what);
	end_use(file, mod);
	return err;
}

/* A file of mode 0444 does not get here: sysfs does not open it for writing (s_write_by_mode). */
static int module_file_store(char *text, void *data)
{
	const struct module_file *file = data;
	struct module *mod = begin_use(file);
	int err;

	if (!mod)
		return -ENODEV;
	err = file->store ? file->store(text, mod, file->what) : -EIO;
	end_use(file, mod);
	return err;
}

static const struct text_kind module_text = {.max = 1100, .owns_data = true};
static const struct text_file module_files = {
	.path = "module", .mode = 0444, .show = module_file_show, .store = module_file_store, .kind = &module_text};

/* [m] Make a file as `file` says; the copy of it belongs to the file's inode, also after an error. 0 or -errno. */
static int module_add_file(struct dentry *dir, const char *name, mode_t mode, const struct module_file *file)
{
	struct module_file *copy = kmemdup(file, sizeof(*file), GFP_KERNEL);
	struct dentry *d;

	if (!copy)
		return -ENOMEM;
	d = text_file_attach_as(dir, name, mode, &module_files, copy);
	if (IS_ERR(d))
		return PTR_ERR(d);
	mutex_lock(&module_files_lock);
	list_add(&copy->list, &copy->mod->files);
	mutex_unlock(&module_files_lock);
	return 0;
}

/* ---- What is known of a module */

static unsigned long parts_size(const struct module *mod, unsigned first)
{
	return mod->memory[first].size + mod->memory[first + 1].size + mod->memory[first + 2].size;
}

/* The sizes of what stays, in whole pages: text, constants and data. */
static int coresize_show(struct seq_file *m, const struct module *mod, const void *what)
{
	seq_printf(m, "%lu\n", parts_size(mod, MODULE_TEXT));
	return 0;
}

/* 0 as soon as init has returned. */
static int initsize_show(struct seq_file *m, const struct module *mod, const void *what)
{
	seq_printf(m, "%lu\n", parts_size(mod, MODULE_INIT_TEXT));
	return 0;
}

/* A module that is being linked counts as coming. */
static int initstate_show(struct seq_file *m, const struct module *mod, const void *what)
{
	static const char *const names[] = {"live", "coming", "going", "coming"};

	seq_printf(m, "%s\n", names[READ_ONCE(mod->state)]);
	return 0;
}

static int refcnt_show(struct seq_file *m, const struct module *mod, const void *what)
{
	seq_printf(m, "%d\n", module_refcount(mod));
	return 0;
}

static int taint_show(struct seq_file *m, const struct module *mod, const void *what)
{
	seq_puts(m, mod->taints ? "P\n" : "\n");
	return 0;
}

static int module_version_show(struct seq_file *m, const struct module *mod, const void *what)
{
	seq_printf(m, "%s\n", mod->version);
	return 0;
}

static const struct {
	const char *name;
	int (*show)(struct seq_file *m, const struct module *mod, const void *what);
} attributes[] = {
	{"coresize", coresize_show}, {"initsize", initsize_show}, {"initstate", initstate_show},
	{"refcnt", refcnt_show},     {"taint", taint_show},	  {"version", module_version_show},
};

/* A version is there for modules with MODULE_VERSION() alone. [m] */
static int add_attributes(struct module *mod)
{
	int err = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(attributes) && !err; i++) {
		const struct module_file file = {.mod = mod, .show = attributes[i].show};

		if (attributes[i].show != module_version_show || mod->version)
			err = module_add_file(mod->directory, attributes[i].name, 0444, &file);
	}
	return err;
}

/* ---- Sections: where a debugger finds the module (add-symbol-file) */

static int section_show(struct seq_file *m, const struct module *mod, const void *what)
{
	seq_printf(m, "0x%016lx\n", kallsyms_show_value() ? (unsigned long)what : 0);
	return 0;
}

/* Those that stay: the sections of init are gone before anybody could use their addresses. */
static int add_sections(struct module *mod)
{
	struct dentry *dir = simple_create_dir(mod->directory, "sections", 0755, NULL);
	int err = IS_ERR(dir) ? PTR_ERR(dir) : 0;

	for (unsigned i = 0; i < mod->nr_sections && !err; i++) {
		const struct module_section *s = &mod->sections[i];
		const struct module_file file = {.mod = mod, .what = (void *)s->address, .show = section_show};

		if (s->size && strncmp(s->name, ".init", 5))
			err = module_add_file(dir, s->name, 0400, &file);
	}
	return err;
}

/* ---- Parameters */

/* param_lock is held (begin_use), so a value is read whole, and the module cannot go meanwhile. */
static int param_show(struct seq_file *m, const struct module *mod, const void *what)
{
	const struct kernel_param *param = what;
	char *text;
	int len;

	if (!param->ops->get)
		return -EPERM;
	text = kmalloc(PAGE_SIZE, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	len = param->ops->get(text, param);
	if (len >= 0)
		seq_write(m, text, min(len, (int)PAGE_SIZE));
	kfree(text);
	return len < 0 ? len : 0;
}

/* The operations of the parameter's type decide what is good, and the log says what they refuse. */
static int param_store(char *text, const struct module *mod, const void *what)
{
	return module_set_param(mod, what, text);
}

/* A parameter that has no permissions has no file, and one of init's either: its memory goes before the module does. */
static int add_params(struct module *mod)
{
	unsigned n, i = 0;
	const struct kernel_param *params = module_section(mod, "__param", sizeof(*params), &n);
	struct dentry *dir;
	int err = 0;

	while (i < n && !params[i].perm)
		i++;
	if (i == n)
		return 0;
	dir = simple_create_dir(mod->directory, "parameters", 0755, NULL);
	if (IS_ERR(dir))
		return PTR_ERR(dir);
	for (; i < n && !err; i++) {
		const struct module_file file = {
			.mod = mod, .what = &params[i], .show = param_show, .store = param_store, .of_param = true};

		if (params[i].perm && module_param_is_of_init(mod, &params[i]))
			pr_warn("%s: parameter '%s' is __initdata: it has no file\n", mod->name, params[i].name);
		else if (params[i].perm)
			err = module_add_file(dir, params[i].name, params[i].perm & 0666, &file);
	}
	return err;
}

/* ---- Holders: a link in the directory of each module that this one uses */

/*
 * As in Linux: /sys/module/SOURCE/holders/USER leads to ../../USER. The sources are LIVE (find_symbol), so they have
 * their directories, and they stay as long as this module uses them. [m]
 */
static int add_holders(struct module *mod)
{
	struct dentry *dir = simple_create_dir(mod->directory, "holders", 0755, NULL);
	char target[MODULE_NAME_LEN + 8];
	struct module_use *use;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	mod->holders = dir;
	snprintf(target, sizeof(target), "../../%s", mod->name);
	list_for_each_entry(use, &mod->uses, sources) {
		struct dentry *link = simple_create_symlink(use->source->holders, mod->name, target);

		if (IS_ERR(link))
			return PTR_ERR(link);
		use->holder = link;
	}
	return 0;
}

/* ---- Coming and going */

/* No file leads to the module afterwards, so the number of those that use it only falls. */
int module_leave_files(struct module *mod)
{
	struct module_file *file, *next;

	mutex_lock(&module_files_lock);
	list_for_each_entry_safe(file, next, &mod->files, list) {
		list_del_init(&file->list);
		file->mod = NULL;
	}
	mutex_unlock(&module_files_lock);
	while (atomic_read(&mod->file_users)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		msleep(1);
	}
	return 0;
}

/*
 * The files have lost their way to the module (module_leave_files), now the names go. Open files live on and say
 * ENODEV. Also called for a module whose files were made in part. [m]
 */
static void sysfs_going(struct module *mod)
{
	struct module_use *use;

	list_for_each_entry(use, &mod->uses, sources) {
		if (use->holder)
			simple_remove(use->holder);
		use->holder = NULL;
	}
	if (mod->directory)
		simple_remove(mod->directory);
	mod->directory = mod->holders = NULL;
}

/*
 * Before init runs, as on Linux: a script that waits for the directory may find a module that is still coming. sysfs
 * need not be mounted for that. [m]
 */
static int sysfs_coming(struct module *mod)
{
	struct dentry *dir = single_fs_dir("sysfs", "module");
	int err;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	mod->directory = simple_create_dir(dir, mod->name, 0755, NULL);
	dput(dir);
	if (IS_ERR(mod->directory)) {
		err = PTR_ERR(mod->directory);
		mod->directory = NULL;
		return err;
	}
	err = add_attributes(mod);
	if (!err)
		err = add_sections(mod);
	if (!err)
		err = add_params(mod);
	return err ? err : add_holders(mod);
}

static const struct module_notifier sysfs_notifier = {.coming = sysfs_coming, .going = sysfs_going};
REGISTER_MODULE_NOTIFIER(sysfs_notifier);

static const struct text_file module_directory = {.path = "module", .mode = S_IFDIR | 0755};
REGISTER_SYSFS(module_directory);
