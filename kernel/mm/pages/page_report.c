/*
 * Reports on pages: a page that is not what it must be (in the form of Linux's report, which people know how to read),
 * and /proc/buddyinfo.
 */
#include "../internal.h"

#include <fs/seq_file.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/string.h>

void bad_page(struct page *page, const char *reason)
{
	pr_err("BUG: Bad page state in process %s  pfn:%05lx\n", current->comm, page_to_pfn(page));
	pr_err("page:%px refcount:%d mapcount:%d mapping:%px index:0x%lx order:%u flags:0x%x\n", page,
	       atomic_read(&page->refcount), atomic_read(&page->mapcount), page->mapping, page->index, page->order,
	       page->flags);
	pr_err("page dumped because: %s\n", reason);
	dump_stack();
}

/* The counts are copied under the lock, so that they belong to one moment, and are printed without it. */
int buddyinfo_show(struct seq_file *m)
{
	unsigned long nr_free[MAX_ORDER + 1], flags;

	spin_lock_irqsave(&zone.lock, flags);
	memcpy(nr_free, zone.nr_free, sizeof(nr_free));
	spin_unlock_irqrestore(&zone.lock, flags);
	seq_printf(m, "Node 0, zone %8s ", "Normal");
	for (unsigned order = 0; order <= MAX_ORDER; order++)
		seq_printf(m, "%6lu ", nr_free[order]);
	seq_putc(m, '\n');
	return 0;
}
