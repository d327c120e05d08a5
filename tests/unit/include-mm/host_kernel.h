/* The kernel around kernel/mm, on the host: locks that check their rules, a log that tests read, memory.
 * Include once. */
#pragma once

#include <host_test.h>

/* Structures of the ABI that the host has as well. */
#define sigset_t  k_sigset_t
#define timespec  k_timespec
#define timeval	  k_timeval
#define itimerval k_itimerval
#define fd_set	  k_fd_set
#include <fs/seq_file.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <kernel/smp.h>
#include <lib/printf.h>
#include <mm/page.h>
#include <sched/mutex.h>
#include <sched/spinlock.h>

struct task_struct host_task = {.comm = "test", .pid = 42};
unsigned long host_irqs_off;
char *host_ram;
unsigned nr_cpu_ids = 4;

/* What was printed since the last host_log_clear(). */
static char host_log[65536];
static size_t host_log_used;
static inline void host_log_clear(void)
{
	host_log_used = 0;
	host_log[0] = '\0';
}
int printk(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	host_log_used += vscnprintf(host_log + host_log_used, sizeof(host_log) - host_log_used, fmt, args);
	va_end(args);
	return 0;
}
static inline bool host_logged(const char *text)
{
	return strstr(host_log, text) != NULL;
}
int host_stacks_dumped;
void dump_stack(void)
{
	host_stacks_dumped++;
}
void panic(const char *fmt, ...)
{
	fprintf(stderr, "panic: %s\n", fmt);
	abort();
}

/* Text that /proc files produce. */
static char host_text[16384];
static size_t host_text_used;
void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	host_text_used += vscnprintf(host_text + host_text_used, sizeof(host_text) - host_text_used, fmt, args);
	va_end(args);
}
void seq_puts(struct seq_file *m, const char *s)
{
	seq_printf(m, "%s", s);
}
void seq_putc(struct seq_file *m, char c)
{
	seq_printf(m, "%c", c);
}
void seq_escape(struct seq_file *m, const char *s, const char *which)
{
	for (; *s; s++)
		seq_printf(m, strchr(which, *s) ? "\\%03o" : "%c", *s);
}

/* Locks of one thread: never taken twice, and those of the memory code only with interrupts off. */
/* What another CPU does just before we get a spinlock; NULL: nothing. */
void (*host_spin_locking)(spinlock_t *l);
void _raw_spin_lock(spinlock_t *l)
{
	if (host_spin_locking)
		host_spin_locking(l);
	assert_int_equal(l->locked, 0);
	l->locked = 1;
}
void _raw_spin_unlock(spinlock_t *l)
{
	assert_int_equal(l->locked, 1);
	l->locked = 0;
}
unsigned long _raw_spin_lock_irqsave(spinlock_t *l)
{
	unsigned long flags = arch_local_irq_save();

	_raw_spin_lock(l);
	return flags;
}
void _raw_spin_unlock_irqrestore(spinlock_t *l, unsigned long flags)
{
	_raw_spin_unlock(l);
	arch_local_irq_restore(flags);
}
/* Looks on when a mutex is taken; NULL: nobody does. */
void (*host_mutex_locking)(struct mutex *m);
void mutex_lock(struct mutex *m)
{
	if (host_mutex_locking)
		host_mutex_locking(m);
	assert_false(host_irqs_off);
	assert_int_equal(m->owner, 0);
	m->owner = (unsigned long)&host_task;
}
/* What another task does that has waited for a mutex; NULL: there is none. */
void (*host_mutex_unlocked)(struct mutex *m);
void mutex_unlock(struct mutex *m)
{
	assert_int_equal(m->owner, (unsigned long)&host_task);
	m->owner = 0;
	if (host_mutex_unlocked)
		host_mutex_unlocked(m);
}
void on_each_cpu(smp_call_func_t fn, void *info, bool wait)
{
	unsigned here = host_task.cpu;

	for (host_task.cpu = 0; host_task.cpu < nr_cpu_ids; host_task.cpu++)
		fn(info);
	host_task.cpu = here;
}

/* Boot with `mib` MiB of RAM, of which `hole` pages from 5 MiB on are taken. */
static inline void host_boot(unsigned mib, unsigned hole)
{
	host_ram = aligned_alloc(4 << 20, (size_t)mib << 20);
	memset(host_ram, 0xa5, (size_t)mib << 20);
	memblock_add(HOST_RAM_PHYS, (u64)mib << 20);
	memblock_reserve(HOST_RAM_PHYS, 0x3456);
	memblock_reserve(HOST_RAM_PHYS + (5 << 20), (u64)hole << PAGE_SHIFT);
	page_alloc_init();
}

/* The formatter is the kernel's own, so that its conversions work in what is logged. */
struct dentry;
const char *format_dentry_name(const struct dentry *dentry);
const char *format_dentry_name(const struct dentry *dentry)
{
	return "dentry";
}
const char *kallsyms_lookup_module(unsigned long address, unsigned long *size, unsigned long *offset, char *module,
				   char *name);
const char *kallsyms_lookup_module(unsigned long address, unsigned long *size, unsigned long *offset, char *module,
				   char *name)
{
	return NULL;
}
