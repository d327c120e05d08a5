/*
 * A device on demand, for tests of mmiotrace: a page of memory that ioremap() maps as if it were registers. A number
 * written to a file of debugfs's mmiotrace/ makes so many accesses, on the writer's CPU. Several writers may do so at a
 * time, each in a part of the page of its own.
 *
 *	cd /sys/kernel/tracing; echo mmiotrace > current_tracer
 *	echo 1000 > /sys/kernel/debug/mmiotrace/write; grep -c ^W trace
 *
 *	write      stores of 4 bytes
 *	check      a store and a load of 1, 2, 4 and 8 bytes in turn; what is read must be what was written
 *	irqs_off   the same with interrupts off
 *	unknown    atomic additions, which mmiotrace does not know
 *	map        mapping another page, a store, a load, unmapping
 *
 * Reading any of them tells the physical address, and how many loads have read something else.
 */
#include <arch/mem_insn.h>
#include <fs/debugfs.h>
#include <irq/irqflags.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/vmalloc.h>
#include <sched/mutex.h>
#include <sched/sched.h>

#define PARTS	   64U
#define PART_BYTES (PAGE_SIZE / PARTS)

static DEFINE_MUTEX(mmio_check_mutex);
static struct page *mmio_check_page; /* [mmio_check_mutex; then immutable] */
static void *mmio_check_regs;	     /* [likewise] */
static atomic64_t mmio_check_wrong;  /* loads that read something else */

/* The mapped page, made at the first use. NULL: no memory. */
static void *mmio_check_map_page(void)
{
	mutex_lock(&mmio_check_mutex);
	if (!mmio_check_page)
		mmio_check_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (mmio_check_page && !mmio_check_regs)
		mmio_check_regs = ioremap(page_to_phys(mmio_check_page), PAGE_SIZE);
	mutex_unlock(&mmio_check_mutex);
	return mmio_check_regs;
}

static void noinline mmio_check_write(void *part, u64 n)
{
	for (u64 i = 0; i < n; i++)
		mem_insn_store(part, 4, i);
}

/* A value with another byte everywhere, so that a wrong width is seen. */
static void noinline mmio_check_round(void *part, u64 i)
{
	unsigned bytes = 1u << (i % 4);
	u64 value = i * 0x0123456789abcdefUL, got;

	mem_insn_store(part, bytes, value);
	got = mem_insn_load(part, bytes);
	if (got != (bytes < 8 ? value & (BIT(8 * bytes) - 1) : value))
		atomic64_inc(&mmio_check_wrong);
}

static void noinline mmio_check_check(void *part, u64 n)
{
	for (u64 i = 0; i < n; i++)
		mmio_check_round(part, i);
}

static void noinline mmio_check_irqs_off(void *part, u64 n)
{
	unsigned long flags;

	for (u64 i = 0; i < n; i++) {
		local_irq_save(flags);
		mmio_check_round(part, i);
		local_irq_restore(flags);
	}
}

static void noinline mmio_check_unknown(void *part, u64 n)
{
	u32 *counter = part, before = *counter;

	for (u64 i = 0; i < n; i++)
		__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
	if (READ_ONCE(*counter) != (u32)(before + n))
		atomic64_inc(&mmio_check_wrong);
}

/* Registers that do not begin at a page's start, mapped and unmapped n times. */
static void noinline mmio_check_map(void *unused, u64 n)
{
	struct page *page = alloc_page(GFP_KERNEL);

	for (u64 i = 0; page && i < n; i++) {
		u32 *regs = ioremap(page_to_phys(page) + 16, 64);

		if (!regs)
			break;
		WRITE_ONCE(regs[1], i);
		if (READ_ONCE(regs[1]) != (u32)i)
			atomic64_inc(&mmio_check_wrong);
		iounmap(regs);
	}
	if (page)
		put_page(page);
}

struct mmio_check_file {
	void (*make)(void *part, u64 n);
};

static int mmio_check_show(struct seq_file *m, void *data)
{
	void *regs = mmio_check_map_page();

	if (!regs)
		return -ENOMEM;
	seq_printf(m, "phys: 0x%lx, wrong: %lld\n", (unsigned long)page_to_phys(mmio_check_page),
		   (long long)atomic64_read(&mmio_check_wrong));
	return 0;
}

/* The writer's pid chooses its part of the page. -EINVAL, -ERANGE: the number; -ENOMEM. */
static int mmio_check_store(char *text, void *data)
{
	const struct mmio_check_file *f = data;
	void *regs = mmio_check_map_page();
	u64 n;
	int err = kstrtoull(text, 10, &n);

	if (err)
		return err;
	if (n > 10000000)
		return -ERANGE;
	if (!regs)
		return -ENOMEM;
	f->make(regs + current->pid % PARTS * PART_BYTES, n);
	return 0;
}

#define MMIO_CHECK_FILE(name)                                                           \
	static const struct mmio_check_file name##_accesses = {mmio_check_##name};      \
	static const struct text_file name##_file = {.path = "mmiotrace/" #name,        \
						     .mode = 0600,                      \
						     .show = mmio_check_show,           \
						     .store = mmio_check_store,         \
						     .data = (void *)&name##_accesses}; \
	REGISTER_DEBUGFS(name##_file)

MMIO_CHECK_FILE(write);
MMIO_CHECK_FILE(check);
MMIO_CHECK_FILE(irqs_off);
MMIO_CHECK_FILE(unknown);
MMIO_CHECK_FILE(map);
