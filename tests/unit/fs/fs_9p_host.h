/*
 * The client of 9P on the host, with a model of a server: it answers a request at once with what the test has put
 * there, or holds it until the test answers it.
 */
#pragma once

#include "../../../kernel/fs/9p/message.c"
#include "../../../kernel/fs/9p/requests.c"
#include "../../../kernel/fs/9p/client.c"
#include "../../../kernel/lib/bitmap.c"

#define MOST 300000 /* bytes of a message here */

/* ---- The model: a request is answered at once, or held until the test answers it. */

struct held {
	struct p9_req *req;
	struct kvec in[2];
	unsigned nr_in;
	u8 type;
	u16 tag;
	u32 first; /* the first field, if it has 32 bits */
};

static struct server {
	u8 reply[MOST]; /* the body that comes back, or */
	u32 len;
	u32 error;			 /* the number of an error reply */
	int size_off, tag_off, type_off; /* how far the head is wrong */
	s32 came;			 /* bytes that the transport tells; -1: all */
	u8 got[MOST];			 /* the last request */
	u32 got_len;
	bool hold;
	struct held held[P9_TAGS];
	unsigned nr_held, sent, room;
	u32 no_memory_above; /* 0: there is memory */
} server;
static unsigned said;

int printk(const char *fmt, ...)
{
	said++;
	return 0;
}

void *host_alloc(size_t size)
{
	return server.no_memory_above && size > server.no_memory_above ? NULL : malloc(size);
}

static unsigned long missing; /* bytes at the end of what is copied that are not there */
static struct p9_channel chan;

/* The user's memory may be a file of the same mount: while it is touched the writer has no tag. */
unsigned long copy_from_user(void *to, const void *from, unsigned long n)
{
	unsigned long there = n - min(n, missing);

	assert_int_equal(bitmap_weight(chan.tags, P9_TAGS), 0);
	memcpy(to, from, there);
	return n - there;
}

static void (*while_waiting)(void);
static long host_timeout = MAX_SCHEDULE_TIMEOUT; /* of the sessions that begin */

void host_waits(void)
{
	if (while_waiting)
		while_waiting();
}

static void scatter(const struct kvec *in, unsigned nr, const u8 *from, u32 len)
{
	for (unsigned i = 0; i < nr && len; i++) {
		u32 part = min_t(u32, len, in[i].iov_len);

		memcpy(in[i].iov_base, from, part);
		from += part;
		len -= part;
	}
}

/* Bytes of a message that the model has made up, as far as there is room for them. */
static void answer(const struct held *h)
{
	static u8 message[MOST];
	u32 len = P9_HEADER + (server.error ? 4 : server.len), size = len + server.size_off, room = 0;
	u8 type = (server.error ? P9_RLERROR : h->type + 1) + server.type_off;
	u16 tag = h->tag + server.tag_off;

	memcpy(message, &size, 4);
	message[4] = type;
	memcpy(message + 5, &tag, 2);
	memcpy(message + P9_HEADER, server.error ? (void *)&server.error : server.reply, len - P9_HEADER);
	for (unsigned i = 0; i < h->nr_in; i++)
		room += h->in[i].iov_len;
	scatter(h->in, h->nr_in, message, min(len, room));
	p9_complete(h->req, server.came >= 0 ? min_t(u32, server.came, room) : min(len, room));
}

/* A number of the last request. */
static u32 got_number(unsigned at, unsigned bytes)
{
	u32 n = 0;

	memcpy(&n, server.got + at, bytes);
	return n;
}

/*
 * What the channel does with a request: note all of it, and answer it at once or keep it. A request's length must be
 * the one that its head says.
 */
static int submit(struct p9_channel *chan, const struct kvec *pieces, unsigned out, unsigned in, struct p9_req *req)
{
	struct held h = {.req = req, .nr_in = in};

	if (!server.room)
		return -ENOSPC;
	server.sent++;
	server.got_len = 0;
	for (unsigned i = 0; i < out; i++) {
		memcpy(server.got + server.got_len, pieces[i].iov_base, pieces[i].iov_len);
		server.got_len += pieces[i].iov_len;
	}
	memcpy(h.in, pieces + out, in * sizeof(*pieces));
	h.type = server.got[4];
	memcpy(&h.tag, server.got + 5, 2);
	memcpy(&h.first, server.got + P9_HEADER, 4);
	if (h.type == P9_TFLUSH)
		h.first &= 0xffff;
	assert_int_equal(got_number(0, 4), server.got_len);
	if (server.hold)
		server.held[server.nr_held++] = h;
	else
		answer(&h);
	return 0;
}

static const struct p9_channel_ops ops = {.submit = submit};

/* A reply's fields, by p9_msg_put()'s letters. */
#define REPLY(...)                                                           \
	do {                                                                 \
		struct p9_msg _m = {.buf = server.reply, .size = MOST - 64}; \
		p9_msg_put(&_m, __VA_ARGS__);                                \
		server.len = _m.at;                                          \
	} while (0)
#define REPLY_QID "bdq"
#define QID	  0x80, 7, 0x1122334455667788ull

/*
 * A channel and a mounted session on it, with an empty server. The server says that messages have at most 8,192 bytes
 * of data.
 */
static struct p9_client *session(void)
{
	struct p9_client *c;

	memset(&server, 0, sizeof(server));
	server.came = -1;
	server.room = 1;
	said = 0;
	missing = 0;
	while_waiting = NULL;
	chan = (struct p9_channel){.tag = "host", .ops = &ops};
	INIT_LIST_HEAD(&channels);
	p9_register_channel(&chan);
	assert_ptr_equal(p9_client_create("nobody", P9_MSIZE, host_timeout), ERR_PTR(-ENOENT));
	REPLY("ds", 8192 + P9_IO_HEAD, "9P2000.L");
	c = p9_client_create("host", P9_MSIZE, host_timeout);
	assert_false(IS_ERR(c));
	assert_int_equal(c->msize, 8192 + P9_IO_HEAD);
	return c;
}

static unsigned tags_in_use(void)
{
	return bitmap_weight(chan.tags, P9_TAGS);
}

static void end(struct p9_client *c)
{
	assert_int_equal(tags_in_use(), 0);
	for (unsigned i = 0; i < P9_TAGS; i++)
		assert_null(chan.reqs[i]);
	assert_int_equal(atomic_read(&c->refs), 1);
	p9_client_destroy(c);
	assert_false(chan.mounted);
}
