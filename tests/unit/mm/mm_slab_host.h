/*
 * Slab caches and kmalloc on the host, for the tests that include this: the real page allocator over an array, and what
 * stands in for vmalloc() and for the event kmalloc. Include once.
 */
#pragma once

#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>
#include <lib/types.h>
/* These tests do on purpose what gcc refuses. */
#undef __freed_by
#define __freed_by(free, n)

#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../kernel/mm/pages/memblock.c"
#include "../../../kernel/mm/pages/page_alloc.c"
#include "../../../kernel/mm/pages/page_pcp.c"
#include "../../../kernel/mm/pages/page_init.c"
#include "../../../kernel/mm/pages/page_report.c"
#include "../../../kernel/mm/pages/slab.c"
#include "../../../kernel/mm/pages/slab_cache.c"
#include "../../../kernel/mm/slab_debug/slab_debug.c"
#include "../../../kernel/mm/info/slab_info.c"
#include <trace/events/kmem.h>

/* The last event kmalloc. */
static struct {
	const void *p;
	size_t wanted, size;
} told;
static void tell_kmalloc(unsigned long caller, const void *p, size_t wanted, size_t size, gfp_t gfp)
{
	told.p = p;
	told.wanted = wanted;
	told.size = size;
}
#define trace_kmalloc tell_kmalloc
#include "../../../kernel/mm/pages/kmalloc.c"

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	snprintf(dst, size, "%s", src);
	return 0;
}
/* Memory that is full stays so: no process can be killed. */
bool out_of_memory(gfp_t gfp, unsigned order)
{
	return false;
}
bool current_is_dying(void)
{
	return false;
}
/* Memory of vmalloc(), one block at a time, where a test lets it have one. */
static void *vmalloced;
static bool vmalloc_works;
void *vmalloc(unsigned long size)
{
	assert_null(vmalloced);
	return vmalloced = vmalloc_works ? memset(malloc(size), 0xaa, size) : NULL;
}
void *__vmalloc(unsigned long size, gfp_t gfp)
{
	void *p = vmalloc(size);

	return p && gfp & __GFP_ZERO ? memset(p, 0, size) : p;
}
void vfree(const void *addr)
{
	assert_ptr_equal(addr, vmalloced);
	free(vmalloced);
	vmalloced = NULL;
}
bool is_vmalloc_addr(const void *p)
{
	return p && p == vmalloced;
}

static unsigned long active_objects(struct kmem_cache *s)
{
	return s->nr_objects - s->nr_free - objects_in_cpus(s);
}

/* Nothing is allocated: every cache says so, and every slab's books are right. */
static void check_all_free(void)
{
	struct kmem_cache *s;

	list_for_each_entry(s, &slab_caches, list) {
		unsigned long free = 0, n = 0;
		struct page *page;

		if (s != &cache_of_caches)
			assert_int_equal(active_objects(s), 0);
		list_for_each_entry(page, &s->partial, slab_list) {
			unsigned in_page = 0;

			for (void *o = page->freelist; o; o = get_freepointer(s, o), in_page++)
				assert_ptr_equal(slab_page(o), page);
			assert_int_equal(in_page, page->objects - page->inuse);
			free += in_page;
			n++;
		}
		assert_int_equal(free, s->nr_free);
		assert_int_equal(n, s->nr_partial);
	}
}

static int boot(void **state)
{
	host_boot(64, 3);
	kmem_cache_init();
	return 0;
}
