/*
 * Messages of 9P2000.L: how numbers and strings lie in them. All numbers are little endian, as our machines are, and
 * stand at any address.
 *
 *     size[4] type[1] tag[2]  then the type's own fields; a string is length[2] and its bytes, without a zero
 *
 * Nothing in a message that was received is believed: every field is checked against the number of bytes that came.
 * The protocol: http://man.cat-v.org/plan_9/5/intro, and the description of 9P2000.L that comes with the server diod.
 */
#pragma once

#include <lib/types.h>

/* Types of requests; the reply has the next number. */
enum {
	P9_RLERROR = 7,
	P9_TSTATFS = 8,
	P9_TLOPEN = 12,
	P9_TLCREATE = 14,
	P9_TSYMLINK = 16,
	P9_TMKNOD = 18,
	P9_TREADLINK = 22,
	P9_TGETATTR = 24,
	P9_TSETATTR = 26,
	P9_TREADDIR = 40,
	P9_TFSYNC = 50,
	P9_TLINK = 70,
	P9_TMKDIR = 72,
	P9_TRENAMEAT = 74,
	P9_TUNLINKAT = 76,
	P9_TVERSION = 100,
	P9_TATTACH = 104,
	P9_TFLUSH = 108,
	P9_TWALK = 110,
	P9_TREAD = 116,
	P9_TWRITE = 118,
	P9_TCLUNK = 120,
};

#define P9_HEADER     7			      /* bytes of size, type and tag */
#define P9_READ_HEAD  (P9_HEADER + 4)	      /* what precedes the data of a reply to TREAD and TREADDIR */
#define P9_WRITE_HEAD (P9_HEADER + 4 + 8 + 4) /* and the data of TWRITE */
#define P9_IO_HEAD    24		      /* room for either: msize less this is what one message carries */
#define P9_NOFID      (~0u)
#define P9_NAME_MAX   255

/* A message that is being written or read. `at` never passes `size`. */
struct p9_msg {
	u8 *buf;
	u32 size; /* bytes of room, or bytes that came */
	u32 at;	  /* the next field */
	bool bad; /* a field did not fit */
};

/* A server's name for a file as it is: `path` differs between all files that exist, as inode numbers do. */
struct p9_qid {
	u8 type; /* file, folder, link... */
	u32 version;
	u64 path;
};

static inline bool p9_same_file(const struct p9_qid *a, const struct p9_qid *b)
{
	return a->path == b->path && a->type == b->type;
}

/* A string in a message that came; it has no zero at its end. */
struct p9_str {
	u16 len;
	const char *bytes;
};

/* An entry of a directory. */
struct p9_dirent {
	struct p9_qid qid;
	u64 next; /* where the entry behind it begins */
	u8 type;  /* DT_* */
	struct p9_str name;
};

/*
 * Fields by letters: b u8, w u16, d u32, q u64, s a string (const char *). A field that does not fit marks the message
 * as bad; p9_msg_finish() tells. Any context.
 */
void p9_msg_begin(struct p9_msg *m, u8 type, u16 tag);
void p9_msg_put(struct p9_msg *m, const char *fields, ...);
void p9_msg_vput(struct p9_msg *m, const char *fields, __builtin_va_list *ap); /* up to a '|' */
/* Store the size; `data` bytes follow in another place. 0, or -ENAMETOOLONG: a name was too long for the message. */
int p9_msg_finish(struct p9_msg *m, u32 data);

/*
 * The head of a reply of `came` bytes to a request. The message has its room in `size`, which becomes the bytes of it
 * that came; the rest of them are data in another place. Returns 0 with `at` behind the head; the number that an error
 * reply brings, as -errno; -EIO when it is no reply to this request.
 */
int p9_msg_reply(struct p9_msg *m, u32 came, u8 type, u16 tag);
/*
 * Fields into pointers, by the same letters, with S for a struct p9_str and Q for a struct p9_qid. 0, or -EIO when the
 * message ends before. Any context.
 */
int p9_msg_get(struct p9_msg *m, const char *fields, ...);
int p9_msg_vget(struct p9_msg *m, const char *fields, __builtin_va_list *ap);
/*
 * The next entry in the data of a reply to TREADDIR. 1, 0 at the end, or -EIO: it is cut off, or its name cannot be
 * one.
 */
int p9_msg_get_dirent(struct p9_msg *m, struct p9_dirent *entry);
