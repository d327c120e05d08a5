/* What the files of the module loader share. All of it in thread context, with module_mutex held where [m] says so. */
#pragma once

#include <kernel/module.h>
#include <lib/errno.h>
#include <sched/mutex.h>
#include <uapi/elf.h>

struct kernel_param;

/*
 * A file that is being loaded: a copy of it, in memory that is the loader's alone, and what was found in it. Everything
 * that elf_module_check() has looked at may be followed without a further check.
 */
struct load_info {
	const u8 *file;
	size_t len;
	struct elf64_hdr *hdr;
	struct elf64_shdr *sections; /* sh_addr: where the section is going to run */
	unsigned nr_sections;
	const char *section_names;
	struct elf64_sym *symbols; /* st_value: the address, once module_resolve() is through */
	unsigned nr_symbols;
	const char *strings; /* of symbols */
	size_t strings_size;
	unsigned this_module; /* number of the section with the struct module */
	unsigned percpu;      /* number of the section with what per-CPU variables begin with; 0: none */
	const char *modinfo;  /* words "name=value", each ended by a zero; NULL: none */
	size_t modinfo_size;
	const char *name;      /* of the module, or "?": for messages */
	const char *file_name; /* for messages as long as there is no name. NULL: not known (init_module) */
};

/* Say why a file is refused. Returns err. */
int module_refuse(const struct load_info *info, int err, const char *fmt, ...) __printf(3, 4);

/*
 * kernel/module/lock.c. Code in the kernel may do anything, so only root changes it, and nobody when that was switched
 * off or a task has died with a lock of the loader. 0, -EPERM.
 */
int module_may_load(void);
bool module_loader_is_dead(void);
/*
 * Take module_mutex. For a system call that begins: 0; -EINTR: a signal came; -EPERM as above. And for one that has to
 * end what it began: 0; -EPERM: a task has died, nothing is changed any more. Thread context.
 */
int module_lock(void);
int module_lock_again(void);
extern struct mutex module_files_lock; /* of the lists mod->files */
extern struct mutex module_texts_lock; /* of params.c: the texts that parameters were given */

/* kernel/module/main.c: the whole of a load. `file` stays the caller's. 0 or -errno, and nothing is left. */
int load_module(const char *file_name, void *file, size_t len, char *args);
/*
 * kernel/module/main.c: end a module that is GOING: wait until nobody holds it or uses its files, tell the notifiers,
 * forget it and free it. 0; -EINTR: killed while it waited, -EPERM: the loader is dead. Then the module stays as it is,
 * and after -EINTR the next rmmod takes it up (`abandoned`). No lock held; sleeps.
 */
int module_let_go(struct module *mod);
/* kernel/module/main.c: whoever waits for a name or a symbol looks again. [m, or the loader is dead] */
void module_tell_waiters(void);
/* Both tables of notifiers, of which the second one follows at once (linker.ld). */
#define FIRST_NOTIFIER __start_ptrs_module_notifiers_first
#define END_NOTIFIERS  __stop_ptrs_module_notifiers

/*
 * kernel/module/sum.c: does the checksum at the end of the file fit? 0, and the line with it no longer counts to the
 * file; -ENOEXEC. Nothing else of the file is looked at.
 */
int module_check_sum(struct load_info *info);

/*
 * Find the parts of the file and prove that all that is in it stays inside of it. 0; -ENOEXEC: it is no module for this
 * machine, or damaged. Writes to *info alone.
 */
int elf_module_check(struct load_info *info);
/* The value of a word of modinfo; `prev` NULL: the first of this name, else the one behind it. NULL: there is none. */
const char *modinfo_next(const struct load_info *info, const char *name, const char *prev);
#define modinfo_get(info, name) modinfo_next(info, name, NULL)
static inline const char *section_name(const struct load_info *info, unsigned n)
{
	return info->section_names + info->sections[n].sh_name;
}
/* Number of the section of this name that is in memory; 0: there is none. */
unsigned find_section(const struct load_info *info, const char *name);
/* Can a file have this name? */
bool may_be_file_name(const char *name);

/* Memory for its sections, into which they are copied; sh_addr and mod->memory say where. 0, -ENOMEM, -ENOEXEC. */
int module_layout(struct module *mod, struct load_info *info);
/* Text becomes executable, constants read-only. From now on nothing of that can be written. */
void module_protect(struct module *mod);
void module_free_init(struct module *mod);
void module_free_memory(struct module *mod);

/*
 * kernel/module/main.c: wait until a module has begun or ended to be, *left jiffies at most, which becomes what is left
 * of them. 0; -EBUSY: no time is left; -EINTR: killed; -EPERM: the loader is dead. [m; not held meanwhile]
 */
int module_wait_for_change(long *left);
/*
 * Give every symbol its address. -ENOENT: one is not there; -EBUSY: it is in a module that does not finish its init;
 * -EINTR; -ENOEXEC. A module that it takes a symbol from is used by it from now on. [m; not held while it waits]
 */
int module_resolve(struct module *mod, struct load_info *info);
/*
 * kernel/module/percpu.c: take room in every CPU's area for the module's per-CPU variables, and afterwards, when the
 * module is relocated, fill in their initial values. 0, -ENOEXEC, -ENOMEM.
 */
int module_alloc_percpu(struct module *mod, struct load_info *info);
void module_fill_percpu(const struct module *mod, const struct load_info *info);
/* One subtraction: an address below `base` becomes a very large number. A part without contents has size 0. */
static inline bool in_part(const struct module_memory *part, unsigned long address)
{
	return address - part->base < part->size;
}
/* Apply all relocations, and collect the call sites. 0, -ENOEXEC, -ENOMEM. */
int module_relocate(struct module *mod, struct load_info *info);
/*
 * kernel/module/check.c: prove what the tables of the relocated module point to, those of the notifiers, too. The
 * second is the part of parameters (check_params.c). 0, -ENOEXEC, -ENOMEM. [m]
 */
struct module_check;
int module_check_pointers(struct module *mod, const struct load_info *info);
int module_check_params(struct module_check *c);
/* Its names, for backtraces and /proc/kallsyms; all it needs is copied. 0, -ENOMEM. */
int module_add_symbols(struct module *mod, const struct load_info *info);
/* Its code is about to go. The names stay for those who read a trace of it. [m] */
void module_retire_init_symbols(struct module *mod);
void module_retire_symbols(struct module *mod);
/*
 * kernel/module/refs.c: into the log, which programs have files of the module open. No lock held: the module may go
 * meanwhile, so `mod` is only compared. Thread context.
 */
void module_name_openers(const struct module *mod, const char *name);
/*
 * kernel/module/request.c: __request_module() of <kernel/kmod.h>, once the name is made. `ip`: the code that asks. What
 * modprobe returns: 0 says that it has ended well, and not that what was asked for is there now, so callers look again.
 * -EBUSY: too many requests are under way; -ENOENT; a positive number is the status of modprobe.
 */
int module_request(char *name, bool wait, unsigned long ip);
/* kernel/module/oops.c: exit has returned. */
void module_note_unloaded(const struct module *mod);
/* kernel/module/ksyms.c: the tables that names are looked up in. [m] */
void ksym_table_add(struct ksym_table *table);
void ksym_table_remove(struct ksym_table *table);
/* End its use of other modules: it drops the references that module_resolve() took. [m] */
void module_unuse(struct module *mod);

/* Set its parameters from "name=value name2=value". 0 or -errno. No lock held: `set` may load other modules. */
int module_parse_params(struct module *mod, char *args);
/* Set one; val NULL: its name stood alone. 0, or the error of its `set`, and the log says which. [param_lock of mod] */
int module_set_param(const struct module *mod, const struct kernel_param *param, const char *val);
/* Does the variable lie in the data of init, which goes when init has returned? */
bool module_param_is_of_init(const struct module *mod, const struct kernel_param *param);
/* What its parameters have allocated: those whose variables lie in init's data, and all others. [m] */
void module_free_init_params(struct module *mod);
void module_free_params(struct module *mod);
/*
 * kernel/module/sysfs.c: its files below /sys/module say from now on that it has gone. On return no task reads or
 * writes one. The module is GOING; no lock held, as who sets a parameter may wait for another module to be loaded. 0;
 * -EINTR: killed before the last has ended.
 */
int module_leave_files(struct module *mod);
