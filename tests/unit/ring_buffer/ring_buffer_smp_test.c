/*
 * The ring buffer under real concurrency: writers on two CPUs, each interrupted by signals at any instruction
 * (and those by another), readers of every kind, resizing, resets, mode switches, swaps. Events carry a
 * number per CPU and nesting depth. Properties: numbers come out in order and once; what is missing is what
 * the buffer counts as overwritten; contents are whole; time does not go back within a CPU. ThreadSanitizer
 * adds: no data race but the one declared.
 *
 * A busy machine may give any of these threads its turn late. So a storm ends when its time is over and each
 * has done its stated part; no property hangs on who got how much.
 */
/* sources: trace/ring_buffer/alloc.c trace/ring_buffer/switch.c trace/ring_buffer/write.c */
/* sources: trace/ring_buffer/event.c trace/ring_buffer/read.c trace/ring_buffer/page.c */
/* sources: trace/ring_buffer/iter.c trace/ring_buffer/stats.c trace/ring_buffer/resize.c */
/* sources: tests/unit/ring_buffer/host_cpu.c */
/* sanitizers: thread */
#define _GNU_SOURCE
#include <lib/errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#include <mm/slab.h>
#include <ring_buffer_check.h>
#include <ring_buffer_storm.h>

/* What comes out of one CPU. Locks: its reader's. */
struct reader {
	int cpu;
	u64 random;
	u64 next[DEPTHS]; /* smallest number that may come */
	u64 last_ts, lost;
	u64 read, turns; /* [atomic] */
	bool lost_unsaid;
	bool any_order; /* contents move between buffers: only that nothing comes twice */
	struct buffer_data_page *page;
};

static struct reader readers[CPUS];

static void check_payload(struct payload *p, int cpu, unsigned length)
{
	must(p->cpu == cpu);
	must(p->depth < DEPTHS);
	must(length == ((p->length + 3) & ~3u));
	for (unsigned i = 0; i < (p->length - sizeof(*p)) / 4; i++)
		must(p->fill[i] == (u32)(p->seq * 31 + i));
}

static void got(struct reader *r, struct ring_buffer_event *event, u64 ts)
{
	struct payload *p = ring_buffer_event_data(event);

	check_payload(p, r->cpu, ring_buffer_event_length(event));
	must(r->any_order || (p->seq >= r->next[p->depth] && ts >= r->last_ts));
	r->next[p->depth] = p->seq + 1;
	r->last_ts = ts;
	count(&r->read);
}

static bool consume(struct reader *r, struct trace_buffer *from)
{
	unsigned long lost = 0;
	u64 ts;
	struct ring_buffer_event *event = ring_buffer_consume(from, r->cpu, &ts, &lost);

	if (!event)
		return false;
	r->lost += lost;
	got(r, event, ts);
	return true;
}

/* One raw page, parsed as a foreign reader does it, with the count of lost events behind the data or only said. */
static bool read_raw(struct reader *r, struct trace_buffer *from)
{
	size_t page = ring_buffer_page_size(from);
	size_t len = next_random(&r->random) % 2 ? page : 64 + next_random(&r->random) % (page - 96);
	unsigned size, pos = 0;
	u64 ts, lost = 0;

	if (ring_buffer_read_page(from, &r->page, len, r->cpu, next_random(&r->random) % 4 == 0))
		return false;
	ts = r->page->time_stamp;
	size = r->page->commit & 0x7ffffff;
	if (r->page->commit & RB_MISSED_STORED)
		memcpy(&lost, r->page->data + size, sizeof(lost));
	else if (r->page->commit & RB_MISSED_EVENTS)
		r->lost_unsaid = true;
	r->lost += lost;
	while (pos < size) {
		struct ring_buffer_event *event = (void *)(r->page->data + pos);

		ts += event->time_delta;
		if (event->type_len == RINGBUF_TYPE_TIME_EXTEND) {
			ts += (u64)event->array[0] << 27;
			pos += 8;
			continue;
		}
		if (event->type_len != RINGBUF_TYPE_PADDING)
			got(r, event, ts);
		pos += 4 + (event->type_len && event->type_len < 29 ? event->type_len * 4 : event->array[0]);
	}
	must(pos == size);
	return true;
}

/* All that is there, with writers going on: in order, whole. */
static void iterate(struct reader *r, struct trace_buffer *from)
{
	struct ring_buffer_iter *iter = ring_buffer_read_start(from, r->cpu);
	struct ring_buffer_event *event;
	u64 next[DEPTHS] = {0}, ts, last = 0;
	int limit = 2000; /* the writer may be faster than we */

	while (limit-- && (event = ring_buffer_iter_peek(iter, &ts))) {
		struct payload *p = ring_buffer_event_data(event);

		check_payload(p, r->cpu, ring_buffer_event_length(event));
		must(r->any_order || (p->seq >= next[p->depth] && ts >= last));
		next[p->depth] = p->seq + 1;
		last = ts;
		ring_buffer_iter_advance(iter);
	}
	ring_buffer_read_finish(iter);
}

/* One of the three ways to read; then the counts must be possible. */
static void read_somehow(struct reader *r, struct trace_buffer *from)
{
	u64 how = next_random(&r->random) % 32, most;

	if (how == 0)
		iterate(r, from);
	else if (how < 8)
		while (read_raw(r, from) && next_random(&r->random) % 8)
			;
	else
		while (consume(r, from) && next_random(&r->random) % 64)
			;
	/* The ring, our own page, and what writers on the way to dropping pages have not counted yet; sizes
	 * go up to 9. */
	most = (9 + DEPTHS + 2) * ring_buffer_page_size(from);
	must(ring_buffer_bytes_cpu(from, r->cpu) <= most);
	must(ring_buffer_entries_cpu(from, r->cpu) <= most / 8);
	must(ring_buffer_oldest_event_ts(from, r->cpu) <= clock_ns());
	count(&r->turns);
}

/* The one thread that reads, both buffers and both CPUs in turn. */
static void *reader_main(void *arg)
{
	u64 random = check_seed(99);

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		struct reader *r = &readers[next_random(&random) % CPUS];

		pthread_mutex_lock(&access_lock);
		read_somehow(r, other && next_random(&random) % 2 ? other : buffer);
		pthread_mutex_unlock(&access_lock);
		/* Who waits for the lock has a turn before we take it again. */
		if (next_random(&random) % 32 == 0)
			usleep(next_random(&random) % 2000);
		else
			sched_yield();
	}
	return NULL;
}

static u64 seen(u64 *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

static bool all_did_their_part(bool disturbing)
{
	for (int i = 0; i < CPUS; i++) {
		struct writer *w = &writers[i];
		struct reader *r = &readers[i];

		if (seen(&w->written) < LEAST_WRITTEN || seen(&w->irqs) < LEAST_IRQS || seen(&w->nmis) < LEAST_NMIS ||
		    seen(&r->read) < LEAST_READ || seen(&r->turns) < LEAST_TURNS)
			return false;
	}
	return !disturbing || seen(&disturbed) >= LEAST_DISTURBED;
}

/* Its time is over; one of its parties does not get on. */
static void storm_is_stuck(void)
{
	fprintf(stderr, "after %d s more of our time: disturbed %lu\n", PATIENCE, seen(&disturbed));
	for (int i = 0; i < CPUS; i++) {
		struct writer *w = &writers[i];
		struct reader *r = &readers[i];

		fprintf(stderr, "CPU %d: written %lu, irqs %lu, nmis %lu, read %lu, turns %lu\n", i, seen(&w->written),
			seen(&w->irqs), seen(&w->nmis), seen(&r->read), seen(&r->turns));
	}
	abort();
}

/* Until the time is over and everybody has done what is stated above. */
static bool storm_goes_on(bool disturbing, u64 end)
{
	static u64 over_since;

	if (clock_ns() < end) {
		over_since = 0;
		return true;
	}
	if (all_did_their_part(disturbing))
		return false;
	if (!over_since)
		over_since = host_cpu_time();
	if (host_cpu_time() - over_since > PATIENCE * 1000000000ull)
		storm_is_stuck();
	return true;
}

/* Interrupts, as fast as they are taken; `disturb` besides, which is the storm's subject. */
static void storm(void (*disturb)(u64 *random))
{
	u64 end = clock_ns() + STORM_MS * 1000000ull, random = check_seed(4711);
	pthread_t reader;

	nr_cpu_ids = CPUS;
	stop = 0;
	disturbed = 0;
	for (int i = 0; i < CPUS; i++) {
		writers[i] = (struct writer){.cpu_buffer = ring_buffer_cpu(buffer, i), .random = check_seed(1000 + i)};
		readers[i].cpu = i;
		readers[i].random = check_seed(2000 + i);
		readers[i].page = ring_buffer_alloc_read_page(buffer, i);
	}
	for (int i = 0; i < CPUS; i++)
		pthread_create(&writers[i].thread, NULL, writer_main, &writers[i]);
	pthread_create(&reader, NULL, reader_main, NULL);
	while (storm_goes_on(disturb, end)) {
		u64 r = next_random(&random);

		if (r % 3 == 0)
			host_nmi(r / 4 % CPUS, nmi_writes, NULL);
		else if (r % 3 == 1)
			host_interrupt(r / 4 % CPUS, irq_writes, NULL);
		else if (disturb)
			disturb(&random);
		if (r / 16 % 8 == 0)
			usleep(r / 256 % 100);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < CPUS; i++)
		pthread_join(writers[i].thread, NULL);
	pthread_join(reader, NULL);
}

/* All is still: read the rest. Everything written was read or overwritten, in numbers. */
static void settle(bool refusals_counted)
{
	for (int i = 0; i < CPUS; i++) {
		struct reader *r = &readers[i];
		u64 overrun, refused;

		while (consume(r, buffer) || (other && consume(r, other)))
			;
		overrun = ring_buffer_overrun_cpu(buffer, i) + (other ? ring_buffer_overrun_cpu(other, i) : 0);
		refused = ring_buffer_dropped_events_cpu(buffer, i) + ring_buffer_commit_overrun_cpu(buffer, i);
		if (other)
			refused += ring_buffer_dropped_events_cpu(other, i) + ring_buffer_commit_overrun_cpu(other, i);
		must(r->read + overrun == writers[i].written);
		must(r->lost <= overrun);
		must(ring_buffer_bytes_cpu(buffer, i) == 0);
		must(ring_buffer_entries_cpu(buffer, i) == 0);
		must(writers[i].cpu_buffer->committing == 0);
		if (refusals_counted)
			must(refused == writers[i].refused);
		ring_buffer_free_read_page(r->page, ring_buffer_order(buffer));
		readers[i] = (struct reader){0};
	}
}

static void begin(unsigned pages, unsigned flags)
{
	nr_cpu_ids = CPUS;
	buffer = ring_buffer_alloc(pages * RB_DATA_SIZE, flags);
	must(buffer);
	for (int i = 0; i < CPUS; i++)
		readers[i] = (struct reader){0};
}

static void end(void)
{
	ring_buffer_free(buffer);
	ring_buffer_free(other);
	buffer = other = NULL;
}

/* Overwriting in the smallest buffer: writers lap each other's pages all the time. */
static void test_overwrite(void **state)
{
	begin(2, RB_FL_OVERWRITE);
	storm(NULL);
	settle(true);
	end();
}

/* Without overwriting: whatever was taken in comes out. */
static void test_keep(void **state)
{
	begin(5, 0);
	storm(NULL);
	for (int i = 0; i < CPUS; i++)
		must(ring_buffer_overrun_cpu(buffer, i) == 0);
	settle(true);
	end();
}

static void change_mode(u64 *random)
{
	ring_buffer_change_overwrite(buffer, next_random(random) % 2);
	count(&disturbed);
}

/* The mode changes while writers run. */
static void test_mode(void **state)
{
	begin(3, 0);
	storm(change_mode);
	settle(true);
	end();
}

static void change_size(u64 *random)
{
	unsigned long size = (2 + next_random(random) % 8) * RB_DATA_SIZE;
	int cpu = (int)(next_random(random) % (CPUS + 1)) - 1;

	must(ring_buffer_resize(buffer, size, cpu) == 0);
	count(&disturbed);
	usleep(200);
}

/* The size changes while writers and readers run: growing keeps all, shrinking keeps the newest, refusals are
 * counted. */
static void test_resize(void **state)
{
	begin(4, RB_FL_OVERWRITE);
	storm(change_size);
	settle(true);
	end();
}

/* Each switch off and on again; in between, is recording off? */
static void throw_switches(u64 *random)
{
	int cpu = next_random(random) % CPUS;

	ring_buffer_record_disable(buffer);
	ring_buffer_record_disable_cpu(buffer, cpu);
	must(!ring_buffer_record_is_on(buffer));
	ring_buffer_record_off(buffer);
	ring_buffer_record_enable(buffer);
	usleep(50);
	ring_buffer_record_enable_cpu(buffer, cpu);
	must(!ring_buffer_record_is_set_on(buffer));
	ring_buffer_record_on(buffer);
	must(ring_buffer_record_is_on(buffer));
	ring_buffer_record_off_cpu(buffer, cpu);
	must(!ring_buffer_record_is_on(buffer));
	ring_buffer_record_on_cpu(buffer, cpu);
	count(&disturbed);
}

/* Recording goes off and on. */
static void test_switches(void **state)
{
	begin(4, RB_FL_OVERWRITE);
	storm(throw_switches);
	settle(false);
	end();
}

/* As a latency tracer does it: in an interrupt of the CPU, which may have come into the middle of a write. */
static void swap_here(void *arg)
{
	int err = ring_buffer_swap_cpu(buffer, other, smp_processor_id());

	must(err == 0 || err == -EBUSY);
	if (!err)
		count(&disturbed);
}

static void swap_somewhere(u64 *random)
{
	smp_call_function_single(next_random(random) % CPUS, swap_here, NULL, true);
}

/* Contents move between two buffers and back, while both are read: nothing is lost or doubled. */
static void test_swap(void **state)
{
	begin(3, RB_FL_OVERWRITE);
	other = ring_buffer_alloc(3 * RB_DATA_SIZE, RB_FL_OVERWRITE);
	for (int i = 0; i < CPUS; i++)
		readers[i].any_order = true;
	storm(swap_somewhere);
	settle(true);
	end();
}

static void reset_some(u64 *random)
{
	pthread_mutex_lock(&access_lock);
	ring_buffer_reset_cpu(buffer, next_random(random) % CPUS);
	pthread_mutex_unlock(&access_lock);
	count(&disturbed);
	usleep(300);
}

/* A reset under fire leaves a buffer that works: afterwards, from a fresh start, the counts are exact again.
 */
static void test_reset(void **state)
{
	begin(3, RB_FL_OVERWRITE);
	storm(reset_some);
	for (int i = 0; i < CPUS; i++)
		ring_buffer_free_read_page(readers[i].page, ring_buffer_order(buffer));
	ring_buffer_reset(buffer);
	must(ring_buffer_empty(buffer));
	for (int i = 0; i < CPUS; i++)
		readers[i] = (struct reader){0};
	storm(NULL);
	settle(true);
	end();
}

/* Pages of another size, while writers run. Readers have no event in hand, and each gets a page of the new size. */
static void change_order(u64 *random)
{
	unsigned order = next_random(random) % 4;

	pthread_mutex_lock(&access_lock);
	for (int i = 0; i < CPUS; i++)
		ring_buffer_free_read_page(readers[i].page, ring_buffer_order(buffer));
	must(ring_buffer_set_order_together(&buffer, 1, order) == 0);
	for (int i = 0; i < CPUS; i++)
		readers[i].page = ring_buffer_alloc_read_page(buffer, i);
	pthread_mutex_unlock(&access_lock);
	count(&disturbed);
	usleep(300);
}

/* The size of pages changes under fire; then, with larger pages, all that is written is read or counted. */
static void test_order(void **state)
{
	begin(3, RB_FL_OVERWRITE);
	storm(change_order);
	for (int i = 0; i < CPUS; i++)
		ring_buffer_free_read_page(readers[i].page, ring_buffer_order(buffer));
	for (unsigned order = 1; order <= 2; order++) {
		must(ring_buffer_set_order_together(&buffer, 1, order) == 0);
		ring_buffer_reset(buffer);
		for (int i = 0; i < CPUS; i++)
			readers[i] = (struct reader){0};
		storm(NULL);
		settle(true);
	}
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overwrite), cmocka_unit_test(test_keep),	   cmocka_unit_test(test_mode),
		cmocka_unit_test(test_resize),	  cmocka_unit_test(test_switches), cmocka_unit_test(test_swap),
		cmocka_unit_test(test_reset),	  cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
