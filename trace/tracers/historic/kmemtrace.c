/*
 * The kmemtrace tracer of Linux 2.6.30 to 2.6.35: every allocation and every release of kernel memory, with the code
 * that asked for it. With its option kmem_minimalistic a line is short:
 *
 *	# ALLOC  TYPE  REQ   GIVEN  FLAGS           POINTER         NODE    CALLER
 *	# FREE   |      |     |       |              |   |            |        |
 *	# |
 *
 *	  +      K    100    128   00000001   0xffff000004e7b080     -1   alloc_pipe_info
 *	  -      K                            0xffff000004e7b080          free_pipe_info
 *
 * TYPE: K kmalloc, C an object of a slab cache, P whole pages. Linux had the letter for pages and never recorded any;
 * here they are recorded, those that slabs are made of among them.
 *
 * A probe at each of the six tracepoints of events/kmem makes a record and, of slab objects, counts the call site
 * (trace_stat/slab). While another tracer is selected there is no probe, and the tracepoints are nops.
 */
#include <mm/page.h>
#include <trace/events/kmem.h>

#include "core/record.h"
#include "output/iter.h"
#include "output/output.h"
#include "records/records.h"
#include "slab_stat.h"

/* type_id of both records; the numbers and letters are Linux's. */
enum kmemtrace_type_id {
	KMEMTRACE_TYPE_KMALLOC,
	KMEMTRACE_TYPE_CACHE,
	KMEMTRACE_TYPE_PAGES,
};
static const char kmemtrace_letters[] = "KCP";

#define TRACE_KMEM_OPT_MINIMAL 1
static const struct tracer_opt kmem_opts[] = {{"kmem_minimalistic", TRACE_KMEM_OPT_MINIMAL}, {}};
static struct tracer_flags kmem_tracer_flags = {.val = 0, .opts = kmem_opts};

/* ---- Probes. Preemption off; any context that may allocate, which NMIs may not. */

/* Records an allocation. One that failed has no pointer and is left out, since no release would follow. */
static void record_alloc(struct trace_array *tr, unsigned type_id, unsigned long call_site, const void *ptr,
			 size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags)
{
	struct kmemtrace_alloc_entry *entry;
	struct ring_buffer_event *event;

	if (!ptr)
		return;
	if (type_id != KMEMTRACE_TYPE_PAGES)
		slab_stat_count(call_site, bytes_req, bytes_alloc);
	entry = trace_reserve(tr, &event, TRACE_KMEM_ALLOC, sizeof(*entry));
	if (!entry)
		return;
	entry->type_id = type_id;
	entry->call_site = call_site;
	entry->ptr = ptr;
	entry->bytes_req = bytes_req;
	entry->bytes_alloc = bytes_alloc;
	entry->gfp_flags = gfp_flags;
	entry->node = -1; /* there is one kind of memory here; Linux says -1 where no node was asked for */
	trace_commit(tr);
}

static void record_free(struct trace_array *tr, unsigned type_id, unsigned long call_site, const void *ptr)
{
	struct kmemtrace_free_entry *entry;
	struct ring_buffer_event *event;

	if (!ptr)
		return;
	entry = trace_reserve(tr, &event, TRACE_KMEM_FREE, sizeof(*entry));
	if (!entry)
		return;
	entry->type_id = type_id;
	entry->call_site = call_site;
	entry->ptr = ptr;
	trace_commit(tr);
}

static void probe_kmalloc(void *data, unsigned long call_site, const void *ptr, size_t bytes_req, size_t bytes_alloc,
			  gfp_t gfp_flags)
{
	record_alloc(data, KMEMTRACE_TYPE_KMALLOC, call_site, ptr, bytes_req, bytes_alloc, gfp_flags);
}

static void probe_cache_alloc(void *data, unsigned long call_site, const void *ptr, size_t bytes_req,
			      size_t bytes_alloc, gfp_t gfp_flags)
{
	record_alloc(data, KMEMTRACE_TYPE_CACHE, call_site, ptr, bytes_req, bytes_alloc, gfp_flags);
}

static void probe_page_alloc(void *data, const struct page *page, unsigned order, gfp_t gfp_flags,
			     unsigned long call_site)
{
	size_t bytes = PAGE_SIZE << order;

	if (page)
		record_alloc(data, KMEMTRACE_TYPE_PAGES, call_site, page_to_virt(page), bytes, bytes, gfp_flags);
}

static void probe_kfree(void *data, unsigned long call_site, const void *ptr)
{
	record_free(data, KMEMTRACE_TYPE_KMALLOC, call_site, ptr);
}

static void probe_cache_free(void *data, unsigned long call_site, const void *ptr, const char *name)
{
	record_free(data, KMEMTRACE_TYPE_CACHE, call_site, ptr);
}

static void probe_page_free(void *data, const struct page *page, unsigned order, unsigned long call_site)
{
	record_free(data, KMEMTRACE_TYPE_PAGES, call_site, page_to_virt(page));
}

static const struct tracepoint_probe kmemtrace_probes[] = {
	{&__tracepoint_kmalloc, (void *)probe_kmalloc},
	{&__tracepoint_kmem_cache_alloc, (void *)probe_cache_alloc},
	{&__tracepoint_mm_page_alloc, (void *)probe_page_alloc},
	{&__tracepoint_kfree, (void *)probe_kfree},
	{&__tracepoint_kmem_cache_free, (void *)probe_cache_free},
	{&__tracepoint_mm_page_free, (void *)probe_page_free},
};

/*
 * 0, -ENOMEM, and then nothing is switched on. No probe counts yet, so the statistics can be cleared. Records carry
 * only pids, so names are noted from now on.
 */
static int kmem_trace_init(struct trace_array *tr)
{
	int ret = slab_stat_reset() ?: tracing_start_cmdline_record_later();

	if (ret)
		return ret;
	ret = tracepoint_probes_register(kmemtrace_probes, ARRAY_SIZE(kmemtrace_probes), tr);
	if (ret)
		tracing_stop_cmdline_record();
	return ret;
}

/* When this returns, no CPU runs one of the probes. The statistics stay. */
static void kmem_trace_reset(struct trace_array *tr)
{
	tracing_stop_cmdline_record_later();
	tracepoint_probes_unregister(kmemtrace_probes, ARRAY_SIZE(kmemtrace_probes), tr);
}

/* ---- Text: minimalistic */

static bool is_minimal(void)
{
	return READ_ONCE(kmem_tracer_flags.val) & TRACE_KMEM_OPT_MINIMAL;
}

static void kmemtrace_headers(struct seq_file *s, struct trace_iterator *iter)
{
	if (!is_minimal()) {
		trace_default_header(s, iter);
		return;
	}
	seq_puts(s, "#\n"
		    "# ALLOC  TYPE  REQ   GIVEN  FLAGS           POINTER         NODE    CALLER\n"
		    "# FREE   |      |     |       |              |   |            |        |\n"
		    "# |\n\n");
}

static char type_letter(unsigned type_id)
{
	return type_id < sizeof(kmemtrace_letters) - 1 ? kmemtrace_letters[type_id] : '?';
}

static void print_alloc_minimal(struct seq_file *s, struct trace_iterator *iter)
{
	const struct kmemtrace_alloc_entry *field = (const void *)iter->ent;

	seq_printf(s, "  +      %c   %4zu   %4zu   %08x   0x%lx   %4d   ", type_letter(field->type_id),
		   field->bytes_req, field->bytes_alloc, field->gfp_flags, (unsigned long)field->ptr, field->node);
	seq_print_ip_sym(s, iter->tr, field->call_site);
	seq_putc(s, '\n');
}

/* The blanks stand for what only an allocation has: sizes, flags, node. */
static void print_free_minimal(struct seq_file *s, struct trace_iterator *iter)
{
	const struct kmemtrace_free_entry *field = (const void *)iter->ent;

	seq_printf(s, "  -      %c     %23s0x%lx   %7s", type_letter(field->type_id), "", (unsigned long)field->ptr,
		   "");
	seq_print_ip_sym(s, iter->tr, field->call_site);
	seq_putc(s, '\n');
}

/* Other records (markers, stacks) and, without the option, ours too, go the usual way. */
static bool kmemtrace_print_line(struct seq_file *s, struct trace_iterator *iter)
{
	if (!is_minimal())
		return false;
	if (iter->ent->type == TRACE_KMEM_ALLOC)
		print_alloc_minimal(s, iter);
	else if (iter->ent->type == TRACE_KMEM_FREE)
		print_free_minimal(s, iter);
	else
		return false;
	return true;
}

static const struct tracer kmem_tracer = {
	.name = "kmemtrace",
	.init = kmem_trace_init,
	.reset = kmem_trace_reset,
	.flags = &kmem_tracer_flags,
	.print_line = kmemtrace_print_line,
	.print_header = kmemtrace_headers,
};
REGISTER_TRACER(kmem_tracer);

/* ---- Text: full, behind the usual columns. By the record's type, so in any trace that holds such records. */

static void kmemtrace_print_alloc(struct seq_file *s, struct trace_iterator *iter)
{
	const struct kmemtrace_alloc_entry *field = (const void *)iter->ent;

	seq_printf(s, "type_id %d call_site %pS ptr %lu bytes_req %lu bytes_alloc %lu gfp_flags %lu node %d\n",
		   field->type_id, (void *)field->call_site, (unsigned long)field->ptr, (unsigned long)field->bytes_req,
		   (unsigned long)field->bytes_alloc, (unsigned long)field->gfp_flags, field->node);
}

static void kmemtrace_print_free(struct seq_file *s, struct trace_iterator *iter)
{
	const struct kmemtrace_free_entry *field = (const void *)iter->ent;

	seq_printf(s, "type_id %d call_site %pS ptr %lu\n", field->type_id, (void *)field->call_site,
		   (unsigned long)field->ptr);
}

/*
 * The form of the option bin is that of the program kmemtrace-user, which read these bytes in 2.6.30: event_id is 0 of
 * an allocation and 1 of a release, event_size counts the whole.
 */
struct kmemtrace_user_event {
	u8 event_id, type_id;
	u16 event_size;
	u32 cpu;
	u64 timestamp;
	unsigned long call_site, ptr;
};
struct kmemtrace_user_event_alloc {
	size_t bytes_req, bytes_alloc;
	unsigned gfp_flags;
	int node;
};

/*
 * The binary form of an allocation that kmemtrace-user reads: a head, then what allocations alone have. Native byte
 * order.
 */
static void kmemtrace_print_alloc_user(struct seq_file *s, struct trace_iterator *iter)
{
	const struct kmemtrace_alloc_entry *field = (const void *)iter->ent;
	struct kmemtrace_user_event_alloc alloc = {field->bytes_req, field->bytes_alloc, field->gfp_flags, field->node};
	struct kmemtrace_user_event event = {
		.event_id = 0,
		.type_id = field->type_id,
		.event_size = sizeof(event) + sizeof(alloc),
		.cpu = iter->cpu,
		.timestamp = iter->ts,
		.call_site = field->call_site,
		.ptr = (unsigned long)field->ptr,
	};

	TRACE_PUT_BIN(s, event);
	TRACE_PUT_BIN(s, alloc);
}

static void kmemtrace_print_free_user(struct seq_file *s, struct trace_iterator *iter)
{
	const struct kmemtrace_free_entry *field = (const void *)iter->ent;
	struct kmemtrace_user_event event = {
		.event_id = 1,
		.type_id = field->type_id,
		.event_size = sizeof(event),
		.cpu = iter->cpu,
		.timestamp = iter->ts,
		.call_site = field->call_site,
		.ptr = (unsigned long)field->ptr,
	};

	TRACE_PUT_BIN(s, event);
}

/* Linux had no forms for the options raw and hex of these records; the text is short enough to be the raw one. */
static const struct trace_event kmem_trace_alloc = {
	.type = TRACE_KMEM_ALLOC,
	.trace = kmemtrace_print_alloc,
	.raw = kmemtrace_print_alloc,
	.bin = kmemtrace_print_alloc_user,
};
static const struct trace_event kmem_trace_free = {
	.type = TRACE_KMEM_FREE,
	.trace = kmemtrace_print_free,
	.raw = kmemtrace_print_free,
	.bin = kmemtrace_print_free_user,
};
REGISTER_TRACE_EVENT(kmem_trace_alloc);
REGISTER_TRACE_EVENT(kmem_trace_free);
