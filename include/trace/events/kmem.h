/* Tracepoints of memory: objects and pages, given and taken back. Fields and texts are Linux's. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kmem

#if !defined(_TRACE_KMEM_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_KMEM_H

#include <mm/page.h>
#include <mm/slab.h>
#include <trace/tracepoint.h>

/* By number, as in all texts of events: GFP_KERNEL and so on. */
#define show_gfp_flags(flags)                                                                         \
	(flags) ? __print_flags(flags, "|", { 0x1, "GFP_KERNEL" }, { 0x2, "GFP_ATOMIC" }, { 0x10, "__GFP_ZERO" }, \
				{ 0x20, "__GFP_NOWARN" }) : "none"
#define NO_PFN (~0UL) /* of a page that was not there */
/* The page of a frame, without the type: `format` shows mem_map_pfn0 as a number. */
#define page_of(pfn) (void *)(mem_map_pfn0 + (pfn) * 56)

/*
 * After it, whether it succeeded or not (ptr is NULL). call_site: who called kmalloc, kzalloc, kmem_cache_alloc and so
 * on; node and accounted are what they are in a Linux without memory nodes and control groups. Any context but nmi.
 */
TRACE_EVENT(kmem_cache_alloc,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags),
	TP_ARGS(call_site, ptr, bytes_req, bytes_alloc, gfp_flags),
	TP_STRUCT__entry(
		__field(unsigned long, call_site)
		__field(const void *, ptr)
		__field(size_t, bytes_req)
		__field(size_t, bytes_alloc)
		__field(unsigned long, gfp_flags)
		__field(int, node)
		__field(bool, accounted)
	),
	TP_fast_assign(
		__entry->call_site = call_site;
		__entry->ptr = ptr;
		__entry->bytes_req = bytes_req;
		__entry->bytes_alloc = bytes_alloc;
		__entry->gfp_flags = gfp_flags;
		__entry->node = -1;
		__entry->accounted = false;
	),
	TP_printk("call_site=%pS ptr=%p bytes_req=%zu bytes_alloc=%zu gfp_flags=%s node=%d accounted=%s",
		(void *)__entry->call_site, __entry->ptr, __entry->bytes_req, __entry->bytes_alloc,
		show_gfp_flags(__entry->gfp_flags), __entry->node, __entry->accounted ? "true" : "false")
);

TRACE_EVENT(kmalloc,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags),
	TP_ARGS(call_site, ptr, bytes_req, bytes_alloc, gfp_flags),
	TP_STRUCT__entry(
		__field(unsigned long, call_site)
		__field(const void *, ptr)
		__field(size_t, bytes_req)
		__field(size_t, bytes_alloc)
		__field(unsigned long, gfp_flags)
		__field(int, node)
	),
	TP_fast_assign(
		__entry->call_site = call_site;
		__entry->ptr = ptr;
		__entry->bytes_req = bytes_req;
		__entry->bytes_alloc = bytes_alloc;
		__entry->gfp_flags = gfp_flags;
		__entry->node = -1;
	),
	TP_printk("call_site=%pS ptr=%p bytes_req=%zu bytes_alloc=%zu gfp_flags=%s node=%d accounted=false",
		(void *)__entry->call_site, __entry->ptr, __entry->bytes_req, __entry->bytes_alloc,
		show_gfp_flags(__entry->gfp_flags), __entry->node)
);

/* Before it; ptr may be NULL. */
TRACE_EVENT(kfree,
	TP_PROTO(unsigned long call_site, const void *ptr),
	TP_ARGS(call_site, ptr),
	TP_STRUCT__entry(
		__field(unsigned long, call_site)
		__field(const void *, ptr)
	),
	TP_fast_assign(
		__entry->call_site = call_site;
		__entry->ptr = ptr;
	),
	TP_printk("call_site=%pS ptr=%p", (void *)__entry->call_site, __entry->ptr)
);

TRACE_EVENT(kmem_cache_free,
	TP_PROTO(unsigned long call_site, const void *ptr, const char *name),
	TP_ARGS(call_site, ptr, name),
	TP_STRUCT__entry(
		__field(unsigned long, call_site)
		__field(const void *, ptr)
		__string(name, name)
	),
	TP_fast_assign(
		__entry->call_site = call_site;
		__entry->ptr = ptr;
		__assign_str(name);
	),
	TP_printk("call_site=%pS ptr=%p name=%s", (void *)__entry->call_site, __entry->ptr, __get_str(name))
);

/*
 * The last reference is gone; before the block goes back to the free lists. call_site, here and in mm_page_alloc, is
 * for probes: who called the page allocator. Linux's records have no place for it.
 */
TRACE_EVENT(mm_page_free,
	TP_PROTO(const struct page *page, unsigned order, unsigned long call_site),
	TP_ARGS(page, order, call_site),
	TP_STRUCT__entry(
		__field(unsigned long, pfn)
		__field(unsigned int, order)
	),
	TP_fast_assign(
		__entry->pfn = page_to_pfn(page);
		__entry->order = order;
	),
	TP_printk("page=%p pfn=0x%lx order=%d", page_of(__entry->pfn), __entry->pfn, __entry->order)
);

/* At the end of the page allocator, with what it has found, for slabs too. There are no types to migrate here: 0. */
TRACE_EVENT(mm_page_alloc,
	TP_PROTO(const struct page *page, unsigned order, gfp_t gfp_flags, unsigned long call_site),
	TP_ARGS(page, order, gfp_flags, call_site),
	TP_STRUCT__entry(
		__field(unsigned long, pfn)
		__field(unsigned int, order)
		__field(unsigned long, gfp_flags)
		__field(int, migratetype)
	),
	TP_fast_assign(
		__entry->pfn = page ? page_to_pfn(page) : NO_PFN;
		__entry->order = order;
		__entry->gfp_flags = gfp_flags;
		__entry->migratetype = 0;
	),
	TP_printk("page=%p pfn=0x%lx order=%d migratetype=%d gfp_flags=%s",
		__entry->pfn != NO_PFN ? page_of(__entry->pfn) : (void *)0,
		__entry->pfn != NO_PFN ? __entry->pfn : 0,
		__entry->order, __entry->migratetype, show_gfp_flags(__entry->gfp_flags))
);

#endif

#include <trace/define_trace.h>
