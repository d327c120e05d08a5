/*
 * Reading by the page, in raw form: what trace_pipe_raw and trace.dat consist of.
 *
 * A page that the writer has left and no reader has begun is handed over as it is: the reader's empty page takes
 * its place in the buffer, and no byte is copied. Of any other page, and of a ring that programs have mapped, the
 * complete events that fit are copied:
 *
 *     reader page   [ read already | complete, unread | claimed, not committed ]
 *                                   `--- copied ---'
 *
 * Both ways give a page that can be decoded alone: its time_stamp is the time from which its first event counts.
 * All functions run under the CPU's reader_lock but the two that allocate and free.
 */
#include <mm/page.h>
#include "internal.h"

struct buffer_data_page *ring_buffer_alloc_read_page(struct trace_buffer *buffer, int cpu)
{
	struct buffer_data_page *page;

	if (!rb_cpu(buffer, cpu))
		return NULL;
	page = get_free_pages(GFP_KERNEL | __GFP_NOWARN, buffer->order);
	if (page)
		page->commit = page->time_stamp = 0;
	return page;
}

void ring_buffer_free_read_page(struct buffer_data_page *page, unsigned order)
{
	free_pages(page, order);
}

/*
 * The reader page changes hands as it is, and the caller's takes its place, empty. Only for a page that the writer
 * has left: no other code then holds a pointer into it. The stamp is kept, because rb_begin_page compares it with the
 * time of the page's next life.
 */
static struct buffer_data_page *rb_exchange(struct rb_ring *ring, struct buffer_data_page *mine)
{
	struct buffer_page *page = ring->reader_page;
	struct buffer_data_page *full = page->data;

	full->commit = rb_committed(ring, page);
	rb_page_read(ring, full->commit, rb_state_events(page->state));
	mine->time_stamp = full->time_stamp;
	rb_set_data(ring, page, mine);
	page->commit = ring->bias;
	return full;
}

/* Bytes up to the end of the next data event or padding; time events before it belong to it. 0 at the end. */
static unsigned rb_unit(struct rb_cursor c)
{
	unsigned start = c.pos;

	/* An extend or a stamp has a type above PADDING; it belongs to the event behind it, so the loop goes on. */
	while (c.pos < c.size) {
		struct ring_buffer_event *event = (struct ring_buffer_event *)(void *)(c.data->data + c.pos);

		rb_cursor_skip(&c);
		if (event->type_len <= RINGBUF_TYPE_PADDING)
			return c.pos - start;
	}
	/* Only time, for an event that was discarded: it may still be followed by one that counts from it. */
	return c.pos - start;
}

/*
 * Copy as many events as `room` holds. The copy's stamp is that of the event before, from which the first one
 * counts. An event and the time events in front of it are copied together or not at all: a delta that had lost its
 * extend would give a wrong time. 0, or -EINVAL when not even the first one fits.
 */
static int rb_copy_events(struct rb_ring *ring, struct buffer_data_page *to, unsigned room)
{
	struct buffer_page *page = ring->reader_page;
	struct rb_cursor c = {page->data, ring->read, rb_committed(ring, page), ring->read_stamp};
	unsigned events = 0, unit, done = 0;
	u64 ts;

	to->time_stamp = c.stamp;
	while ((unit = rb_unit(c)) != 0 && done + unit <= room) {
		/*
		 * A cursor over this unit alone. It moves the time on, and tells whether the unit has a data event
		 * to count.
		 */
		struct rb_cursor one = {c.data, c.pos, c.pos + unit, c.stamp};

		memcpy(to->data + done, c.data->data + c.pos, unit);
		if (rb_cursor_event(&one, &ts)) {
			events++;
			rb_cursor_skip(&one);
		}
		done += unit;
		c.pos = one.pos;
		c.stamp = one.stamp;
	}
	if (!done)
		return -EINVAL;
	to->commit = done;
	rb_page_read(ring, done, events);
	ring->read = c.pos;
	ring->read_stamp = c.stamp;
	return 0;
}

/*
 * Say in the page, which has room for so many bytes of data, what was lost before it, and leave no old bytes behind the
 * data: it may go to user space. The
 * number of lost events has its place behind the data; when that is full to the last words, only the flag is set.
 */
static void rb_finish_page(struct buffer_data_page *page, unsigned bytes, u64 lost)
{
	unsigned end = page->commit;

	if (lost) {
		page->commit |= RB_MISSED_EVENTS;
		if (end + sizeof(lost) <= bytes) {
			memcpy(page->data + end, &lost, sizeof(lost));
			page->commit |= RB_MISSED_STORED;
			end += sizeof(lost);
		}
	}
	memset(page->data + end, 0, bytes - end);
}

/* ring_buffer_read_page for one ring. Context: reader_lock held. `room`: bytes of data that the caller can take. */
static int rb_read_page(struct ring_buffer_per_cpu *cpu_buffer, struct buffer_data_page **page, unsigned room,
			bool full)
{
	struct rb_ring *ring = &cpu_buffer->ring;
	struct buffer_page *reader = rb_get_reader_page(ring);
	bool complete;
	u64 lost;
	int err;

	if (!reader)
		return -EAGAIN;
	/* The writer has left it when the commit is past it; the acquire brings its last commit. */
	complete = reader->seq < __atomic_load_n(&ring->commit_seq, __ATOMIC_ACQUIRE) &&
		   rb_committed(ring, reader) - ring->read <= room;
	/* splice wants whole pages: the one that is still being written is left for read. */
	if (full && !complete)
		return -EAGAIN;
	lost = ring->lost_events;
	if (complete && ring->read == 0 && !rb_map_of(cpu_buffer)) {
		*page = rb_exchange(ring, *page);
	} else {
		err = rb_copy_events(ring, *page, room);
		if (err)
			return err;
	}
	ring->lost_events = 0;
	rb_finish_page(*page, rb_page_data(ring->order), lost);
	return 0;
}

int ring_buffer_read_page(struct trace_buffer *buffer, struct buffer_data_page **page, size_t len, int cpu, bool full)
{
	struct ring_buffer_per_cpu *cpu_buffer = rb_cpu(buffer, cpu);
	unsigned long flags;
	int err;

	if (!cpu_buffer || len <= RB_HEADER_SIZE || !*page)
		return -EINVAL;
	flags = rb_lock(cpu_buffer);
	err = rb_read_page(cpu_buffer, page, min(len - RB_HEADER_SIZE, (size_t)rb_page_data(cpu_buffer->ring.order)),
			   full);
	rb_unlock(cpu_buffer, flags);
	return err;
}
