/* Writing and reading messages of 9P2000.L. message.h tells how they look. */
#include "message.h"

#include <lib/errno.h>
#include <lib/string.h>

#define MAX_ERRNO_VALUE 4095

/* The place of the next n bytes, or NULL when there is no room for them; then nothing fits any more. */
static u8 *take(struct p9_msg *m, u32 n)
{
	u8 *place = m->buf + m->at;

	if (m->bad || n > m->size - m->at) {
		m->bad = true;
		return NULL;
	}
	m->at += n;
	return place;
}

static void put_bytes(struct p9_msg *m, const void *from, u32 n)
{
	u8 *to = take(m, n);

	if (to)
		memcpy(to, from, n);
}

/* Numbers are little endian, so the first n bytes of a wider variable are the number. */
static void put_number(struct p9_msg *m, u64 value, u32 n)
{
	put_bytes(m, &value, n);
}

static u64 get_number(struct p9_msg *m, u32 n)
{
	u64 value = 0;
	const u8 *from = take(m, n);

	if (from)
		memcpy(&value, from, n);
	return value;
}

/* No message has room for a string whose length does not go into 16 bits. */
static void put_string(struct p9_msg *m, const char *s)
{
	size_t len = strlen(s);

	put_number(m, len, 2);
	put_bytes(m, s, len);
}

static struct p9_str get_string(struct p9_msg *m)
{
	struct p9_str s = {.len = get_number(m, 2)};

	s.bytes = (const char *)take(m, s.len);
	if (!s.bytes)
		s.len = 0;
	return s;
}

static struct p9_qid get_qid(struct p9_msg *m)
{
	struct p9_qid qid = {.type = get_number(m, 1)};

	qid.version = get_number(m, 4);
	qid.path = get_number(m, 8);
	return qid;
}

/* The size is not known yet. */
void p9_msg_begin(struct p9_msg *m, u8 type, u16 tag)
{
	m->at = 0;
	m->bad = false;
	p9_msg_put(m, "dbw", 0, type, tag);
}

/* How many bytes a number has, by its letter; 0: the letter does not stand for a number. */
static u32 width_of(char letter)
{
	return letter == 'b' ? 1 : letter == 'w' ? 2 : letter == 'd' ? 4 : letter == 'q' ? 8 : 0;
}

/* Narrow numbers come as int, as in every list of variable arguments. */
void p9_msg_vput(struct p9_msg *m, const char *fields, __builtin_va_list *ap)
{
	for (; *fields && *fields != '|'; fields++) {
		u32 width = width_of(*fields);

		if (width == 8)
			put_number(m, __builtin_va_arg(*ap, u64), width);
		else if (width)
			put_number(m, __builtin_va_arg(*ap, u32), width);
		else
			put_string(m, __builtin_va_arg(*ap, const char *));
	}
}

void p9_msg_put(struct p9_msg *m, const char *fields, ...)
{
	__builtin_va_list ap;

	__builtin_va_start(ap, fields);
	p9_msg_vput(m, fields, &ap);
	__builtin_va_end(ap);
}

int p9_msg_finish(struct p9_msg *m, u32 data)
{
	u32 size = m->at + data;

	if (m->bad)
		return -ENAMETOOLONG;
	memcpy(m->buf, &size, sizeof(size));
	return 0;
}

/*
 * The size in the message must be what the transport has brought, no more and no less. The transport says which request
 * was answered, so the tag only confirms that the server means the same one.
 */
int p9_msg_reply(struct p9_msg *m, u32 came, u8 type, u16 tag)
{
	u32 size, error;
	u8 got;
	u16 got_tag;

	m->size = min(m->size, came);
	m->at = 0;
	m->bad = false;
	if (p9_msg_get(m, "dbw", &size, &got, &got_tag) || size != came || got_tag != tag)
		return -EIO;
	if (got == type + 1)
		return 0;
	if (got != P9_RLERROR || p9_msg_get(m, "d", &error) || !error || error > MAX_ERRNO_VALUE)
		return -EIO;
	return -(int)error;
}

/* A value in the message is little-endian, as is the machine, so its bytes go to the variable as they are. */
int p9_msg_vget(struct p9_msg *m, const char *fields, __builtin_va_list *ap)
{
	for (; *fields; fields++) {
		u32 width = width_of(*fields);
		void *to = __builtin_va_arg(*ap, void *);
		u64 value;

		if (*fields == 'S')
			*(struct p9_str *)to = get_string(m);
		else if (*fields == 'Q')
			*(struct p9_qid *)to = get_qid(m);
		else {
			value = get_number(m, width);
			memcpy(to, &value, width);
		}
	}
	return m->bad ? -EIO : 0;
}

int p9_msg_get(struct p9_msg *m, const char *fields, ...)
{
	__builtin_va_list ap;
	int err;

	__builtin_va_start(ap, fields);
	err = p9_msg_vget(m, fields, &ap);
	__builtin_va_end(ap);
	return err;
}

/* Programs take a name with a slash or a zero in it for another name, so a server may not send one. */
int p9_msg_get_dirent(struct p9_msg *m, struct p9_dirent *entry)
{
	if (m->at == m->size && !m->bad)
		return 0;
	if (p9_msg_get(m, "QqbS", &entry->qid, &entry->next, &entry->type, &entry->name))
		return -EIO;
	if (!entry->name.len || entry->name.len > P9_NAME_MAX)
		return -EIO;
	for (unsigned i = 0; i < entry->name.len; i++)
		if (entry->name.bytes[i] == '/' || !entry->name.bytes[i])
			return -EIO;
	return 1;
}
