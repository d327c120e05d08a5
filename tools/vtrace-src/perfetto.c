/*
 * Perfetto's own form: a Trace of TracePackets, each with a TrackDescriptor or a TrackEvent. The numbers of
 * the fields are those of its published schema (protos/perfetto/trace).
 */
#include "vtrace.h"

#include <string.h>

/* Fields, and the messages they are of. */
enum {
	TRACE_PACKET = 1,

	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_TRACK_DESCRIPTOR = 60,

	DESCRIPTOR_UUID = 1,
	DESCRIPTOR_NAME = 2,
	DESCRIPTOR_PARENT = 5,
	DESCRIPTOR_COUNTER = 8,

	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,

	ANNOTATION_UINT = 3,
	ANNOTATION_STRING = 6,
	ANNOTATION_NAME = 10,
};

enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
enum { WIRE_NUMBER, WIRE_BYTES = 2 };

#define SEQUENCE    1
#define FIRST_TRACK 10 /* before: the groups */
#define MAX_MESSAGE 16384
#define MAX_TEXT    8000

struct message {
	size_t n;
	unsigned char data[MAX_MESSAGE];
};

static void put_varint(struct message *m, uint64_t value)
{
	do {
		m->data[m->n++] = (value & 127) | (value > 127 ? 128 : 0);
		value >>= 7;
	} while (value);
}

static void put_number(struct message *m, int field, uint64_t value)
{
	put_varint(m, (uint64_t)field << 3 | WIRE_NUMBER);
	put_varint(m, value);
}

static void put_bytes(struct message *m, int field, const void *data, size_t n)
{
	put_varint(m, (uint64_t)field << 3 | WIRE_BYTES);
	put_varint(m, n);
	memcpy(m->data + m->n, data, n);
	m->n += n;
}

/* As many whole characters as there is room for. */
static void put_text(struct message *m, int field, const char *text)
{
	char clean[MAX_TEXT];
	size_t n = 0;

	while (*text) {
		size_t size;
		const char *c = utf8(&text, &size);

		if (n + size > MAX_TEXT)
			break;
		memcpy(clean + n, c, size);
		n += size;
	}
	put_bytes(m, field, clean, n);
}

static void put_message(struct message *m, int field, const struct message *inner)
{
	put_bytes(m, field, inner->data, inner->n);
}

static void put_packet(const struct message *packet)
{
	static struct message trace;

	trace.n = 0;
	put_varint(&trace, TRACE_PACKET << 3 | WIRE_BYTES);
	put_varint(&trace, packet->n);
	fwrite(trace.data, 1, trace.n, out);
	fwrite(packet->data, 1, packet->n, out);
}

static void describe(uint64_t uuid, uint64_t parent, const char *name, bool counter)
{
	static struct message descriptor, packet;

	descriptor.n = packet.n = 0;
	put_number(&descriptor, DESCRIPTOR_UUID, uuid);
	put_text(&descriptor, DESCRIPTOR_NAME, name);
	if (parent)
		put_number(&descriptor, DESCRIPTOR_PARENT, parent);
	if (counter)
		put_bytes(&descriptor, DESCRIPTOR_COUNTER, "", 0); /* of no unit */
	put_number(&packet, PACKET_SEQUENCE, SEQUENCE);
	put_message(&packet, PACKET_TRACK_DESCRIPTOR, &descriptor);
	put_packet(&packet);
}

static void perfetto_start(const struct dat *d, const struct buffer *b)
{
	(void)d, (void)b;
	for (int i = 0; i < NR_TRACK_GROUPS; i++)
		describe(1 + i, 0, track_groups[i], false);
}

static void perfetto_track(struct track *t)
{
	bool counter = t->kind == TRACK_COUNTER;

	describe(FIRST_TRACK + t->number, 1 + (counter ? TRACK_MARK : t->kind), t->name, counter);
}

static struct message event;

static void begin_event(const struct track *t, int type)
{
	event.n = 0;
	put_number(&event, EVENT_TYPE, type);
	put_number(&event, EVENT_TRACK, FIRST_TRACK + t->number);
}

static void annotate(const char *name, const char *text, uint64_t value)
{
	static struct message annotation;

	annotation.n = 0;
	put_text(&annotation, ANNOTATION_NAME, name);
	if (text)
		put_text(&annotation, ANNOTATION_STRING, text);
	else
		put_number(&annotation, ANNOTATION_UINT, value);
	put_message(&event, EVENT_ANNOTATION, &annotation);
}

static void put_event(uint64_t ts)
{
	static struct message packet;

	packet.n = 0;
	put_number(&packet, PACKET_TIMESTAMP, ts);
	put_number(&packet, PACKET_SEQUENCE, SEQUENCE);
	put_message(&packet, PACKET_TRACK_EVENT, &event);
	put_packet(&packet);
}

static void perfetto_begin(struct track *t, uint64_t ts, const char *name)
{
	begin_event(t, TYPE_BEGIN);
	put_text(&event, EVENT_NAME, name);
	put_event(ts);
}

static void perfetto_end(struct track *t, uint64_t ts, const char *name, uint64_t ns, const char *mark)
{
	(void)name;
	begin_event(t, TYPE_END);
	annotate("ns", NULL, ns);
	if (mark)
		annotate("closed", mark, 0);
	put_event(ts);
}

static void perfetto_instant(struct track *t, uint64_t ts, const char *name, const char *text)
{
	begin_event(t, TYPE_INSTANT);
	put_text(&event, EVENT_NAME, name);
	if (text)
		annotate("text", text, 0);
	put_event(ts);
}

static void perfetto_count(struct track *t, uint64_t ts, long long value)
{
	begin_event(t, TYPE_COUNTER);
	put_number(&event, EVENT_COUNTER_VALUE, (uint64_t)value);
	put_event(ts);
}

const struct sink perfetto_sink = {.start = perfetto_start,
				   .track = perfetto_track,
				   .begin = perfetto_begin,
				   .end = perfetto_end,
				   .instant = perfetto_instant,
				   .wants_instants = true,
				   .count = perfetto_count};
