/*
 * Dynamic ftrace over texts that the test keeps: the kernel's and a module's, what each site calls, and users. Include
 * once.
 */
#pragma once

#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>
#include <host_wait.h>

#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/lib/glob.c"
#include "../../../kernel/lib/kstrto.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../trace/ftrace/ftrace.c"
#include "../../../trace/ftrace/ops.c"
#include "../../../trace/ftrace/set.c"
#include "../../../trace/ftrace/sites.c"
#include "../../../trace/modules/sites.c"

/* ---- The text: a function every 16 to 46 bytes, so that hints stand for one, several or no site. */
#define SITES 200
#define AT(i) ((i)*16 + (i) / 3 * 30)
#define AT10(i)                                                                                                        \
	AT(i), AT((i) + 1), AT((i) + 2), AT((i) + 3), AT((i) + 4), AT((i) + 5), AT((i) + 6), AT((i) + 7), AT((i) + 8), \
		AT((i) + 9)
#define AT50(i) AT10(i), AT10((i) + 10), AT10((i) + 20), AT10((i) + 30), AT10((i) + 40)

char _text[AT(SITES)];
/* The linker says where it begins and ends. */
static const u32 table[SITES] __section("mcount_loc") __used = {AT50(0), AT50(50), AT50(100), AT50(150)};
/* A module's text has a site every 32 bytes. */
#define MODULE_SITES 100
static char module_text[MODULE_SITES * 32];
static unsigned long called[SITES + MODULE_SITES]; /* 0: a nop */
static unsigned long writes;			   /* of sites */
static bool stopped;

static unsigned site_at(unsigned long ip)
{
	unsigned long in_module = ip - (unsigned long)module_text;

	if (in_module < sizeof(module_text) && !(in_module % 32))
		return SITES + in_module / 32;
	for (unsigned i = 0; i < SITES; i++)
		if (ip == (unsigned long)_text + table[i])
			return i;
	fail_msg("%lx is no site", ip - (unsigned long)_text);
	return 0;
}

size_t arch_patch_verify_calls(const unsigned long *sites, size_t n, unsigned long target)
{
	size_t good = 0;

	assert_true(stopped);
	while (good < n && called[site_at(sites[good])] == target)
		good++;
	return good;
}
static bool booting; /* in ftrace_init(): one CPU, nothing to stop */
int arch_patch_write_calls(const unsigned long *sites, size_t n, unsigned long target)
{
	assert_true(stopped || booting);
	for (size_t i = 0; i < n; i++)
		called[site_at(sites[i])] = target;
	writes += n;
	return 0;
}
static unsigned long callee; /* what the place in ftrace_caller calls */
int arch_patch_write(unsigned long site, unsigned long target, enum patch_kind kind)
{
	if (site == ftrace_call_site || site == ftrace_entry_call_site)
		callee = target;
	else if (site != ftrace_graph_call_site)
		called[site_at(site)] = target;
	return 0;
}
void arch_patch_begin(void)
{
}
void arch_patch_end(void)
{
}

/* ---- What it stands on */
struct mutex text_mutex;
static u64 grace_periods = 1;		 /* that are over; a state is the number of the one to wait for */
static struct ftrace_ops *users_at_stop; /* those that CPUs have found up to the last stop */
void text_patch_stopped(void (*fn)(void *data), void *data)
{
	assert_true(text_mutex.owner);
	users_at_stop = ftrace_ops_list;
	stopped = true;
	fn(data);
	stopped = false;
	grace_periods++;
}
u64 get_state_synchronize_rcu(void)
{
	return grace_periods + 1;
}
void cond_synchronize_rcu(u64 state)
{
	grace_periods = max(grace_periods, state);
}
static unsigned warnings;
void __warn(const char *file, int line, const char *cond)
{
	warnings++;
}
static long no_redirect = -1;
bool arch_ftrace_can_redirect(unsigned long ip)
{
	return no_redirect < 0 || site_at(ip) != no_redirect;
}
/* What the task does when it is preempted as soon as it can be. */
static void (*preempted)(void);
void preempt_schedule_notrace(void)
{
	if (preempted)
		preempted();
}
struct ftrace_ops *ftrace_single_ops[FTRACE_SINGLE_OPS];
bool fgraph_was_used;
unsigned fgraph_nr_users;
static unsigned chosen;
void fgraph_choose(void)
{
	chosen++;
}
static bool no_memory;
void *kzalloc(size_t n, gfp_t gfp)
{
	return no_memory ? NULL : calloc(1, n);
}
void *kvzalloc(size_t n, gfp_t gfp)
{
	return calloc(1, n);
}
void *kmemdup(const void *p, size_t n, gfp_t gfp)
{
	void *copy = no_memory ? NULL : malloc(n);

	return copy ? memcpy(copy, p, n) : NULL;
}
void kfree(const void *p)
{
	free((void *)p);
}

/* Functions are called f0, f1 and so on, and begin where their sites are. */
static char names[SITES][8];
bool kallsyms_symbol(size_t i, struct ksym *sym)
{
	if (i >= SITES)
		return false;
	*sym = (struct ksym){.address = (unsigned long)_text + table[i], .name = names[i], .type = 't'};
	return true;
}
long symbol_index(unsigned long address)
{
	long i = -1;

	while (i + 1 < SITES && (unsigned long)_text + table[i + 1] <= address)
		i++;
	return i;
}

/* ---- Modules: two of them, each with a part of the text, whose functions are called m0, m1 and so on. */
static char module_names[MODULE_SITES][8];
static struct module demo = {.name = "demo"};
static struct module other = {.name = "other"};

bool is_module_addr(const void *p)
{
	return (unsigned long)p - (unsigned long)module_text < sizeof(module_text);
}
struct module *__module_address(unsigned long addr)
{
	for (unsigned part = 0; part < NR_MODULE_PARTS; part++) {
		if (addr - demo.memory[part].base < demo.memory[part].size)
			return &demo;
		if (addr - other.memory[part].base < other.memory[part].size)
			return &other;
	}
	return NULL;
}
const char *module_symbol_name(unsigned long address, const char **module)
{
	unsigned i = (address - (unsigned long)module_text) / 32;

	assert_true(ftrace_lock.owner); /* the name is in the module, which may go otherwise */
	if (module)
		*module = address - other.memory[MODULE_TEXT].base < other.memory[MODULE_TEXT].size ? "other" : "demo";
	sprintf(module_names[i], "m%u", i);
	return module_names[i];
}
const char *kallsyms_lookup(unsigned long address, unsigned long *size, unsigned long *offset, char *name)
{
	*offset = (address - (unsigned long)module_text) % 32;
	*size = 32;
	return name;
}

/* The module has sites first to first + n - 1 in its text, and so many in the text of its init, right behind. */
static void __maybe_unused place(struct module *mod, unsigned first, unsigned n, unsigned init)
{
	mod->sites = calloc(n + init, sizeof(*mod->sites));
	mod->nr_sites = n + init;
	for (unsigned i = 0; i < n + init; i++)
		mod->sites[i] = (unsigned long)module_text + 32 * (first + i);
	mod->memory[MODULE_TEXT] = (struct module_memory){mod->sites[0], n * 32};
	mod->memory[MODULE_INIT_TEXT] = (struct module_memory){mod->sites[0] + n * 32, init * 32};
}
static void __maybe_unused leave(struct module *mod)
{
	site_notifier.going(mod);
	free(mod->sites);
	memset(mod->memory, 0, sizeof(mod->memory));
}

/* ---- Users */
static void func(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op, struct ftrace_regs *fregs)
{
}

/* Begins like boot: all sites are nops and nobody uses them. */
static int fresh(void **state)
{
	ftrace_ops_list = NULL;
	ftrace_dead = false;
	ftrace_enabled = 1;
	ftrace_call_target = ftrace_graph_call_target = 0;
	memset(called, 0xff, sizeof(called));
	for (unsigned i = 0; i < SITES; i++)
		sprintf(names[i], "f%u", i);
	booting = true;
	ftrace_init();
	ftrace_set_kprobe_caller(FTRACE_KPROBE_CALLER_ADDR); /* as trace/kprobes does it */
	booting = false;
	no_redirect = -1;
	no_memory = false;
	writes = warnings = 0;
	return 0;
}

/* Free all that ftrace_init() has made, so that ASan sees what tests leave behind. */
static int gone(void **state)
{
	for (struct site_map *map = site_maps; map < site_maps + NR_CALLERS; map++) {
		kfree(map->wanted);
		kfree(map->have);
	}
	kfree(rec_hints);
	kfree(ftrace_recs);
	kfree(ftrace_enabled_map);
	kfree(ftrace_touched_map);
	kfree(ftrace_return_map);
	kfree(return_wanted);
	kfree(ftrace_present_map);
	kfree(forgotten_at);
	forgotten_at = NULL;
	ftrace_recs_end = ftrace_nr_kernel_recs;
	return 0;
}

static int edit(struct ftrace_ops *ops, bool exclude, const char *text, bool reset)
{
	return (exclude ? ftrace_set_notrace : ftrace_set_filter)(ops, (unsigned char *)text, strlen(text), reset);
}

static int filter(struct ftrace_ops *ops, const char *text, bool reset)
{
	return edit(ops, false, text, reset);
}

static struct ftrace_ops __maybe_unused user(u32 flags, const char *glob)
{
	struct ftrace_ops ops = {.func = func, .flags = flags};

	if (glob)
		assert_int_equal(filter(&ops, glob, true), 0);
	return ops;
}
