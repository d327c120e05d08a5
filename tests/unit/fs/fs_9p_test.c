/*
 * The client of 9P against a model of a server (fs_9p_host.h): messages byte by byte, and replies that are cut,
 * flipped and wrong in every way. Each operation of the client is a row with a right reply; the tests change that
 * reply. Under ASan a read or write beyond a message ends the test.
 */
/* sources: */
/* include: tests/unit/include-9p */
#include "fs_9p_host.h"

/* ---- All operations, with a right reply for each */

static struct p9_qid qid;
static struct p9_stat stat_;
static u64 sizes[6];
static u32 sizes32[3];
static char text[100];
static u32 fid;
static char data[20000];

static int do_walk(struct p9_client *c)
{
	int err = p9_client_walk(c, 1, "name", &fid, &qid);

	if (!err) {
		server.came = -1;
		p9_client_clunk(c, fid);
	}
	return err;
}

static int do_read(struct p9_client *c)
{
	struct p9_req *req;
	ssize_t got = p9_client_read(c, P9_TREAD, 5, 0x123456789ull, 100, &req);

	if (got <= 0)
		return got;
	memcpy(data, req->data, got);
	p9_req_put(req);
	return got <= 100 ? 0 : -ERANGE;
}

/*
 * One message of directory entries. Each name must have 1 to 255 bytes, all of which are read, so that ASan sees a
 * name that is too long.
 */
static int do_readdir(struct p9_client *c)
{
	struct p9_req *req;
	ssize_t got = p9_client_read(c, P9_TREADDIR, 5, 0, 100, &req);
	struct p9_dirent entry = {};
	struct p9_msg m;
	int more;

	if (got <= 0)
		return got;
	m = (struct p9_msg){.buf = req->data, .size = got};
	while ((more = p9_msg_get_dirent(&m, &entry)) > 0) {
		assert_in_range(entry.name.len, 1, 255);
		memcpy(data, entry.name.bytes, entry.name.len);
	}
	p9_req_put(req);
	return more;
}

static int do_getattr(struct p9_client *c)
{
	return p9_client_getattr(c, 5, &stat_);
}

static int do_readlink(struct p9_client *c)
{
	return p9_client_readlink(c, 5, text, sizeof(text));
}

static int do_statfs(struct p9_client *c)
{
	return p9_client_call(c, P9_TSTATFS, "d|ddqqqqqqd", 5, &sizes32[0], &sizes32[1], &sizes[0], &sizes[1],
			      &sizes[2], &sizes[3], &sizes[4], &sizes[5], &sizes32[2]);
}

static int do_open(struct p9_client *c)
{
	return p9_client_call(c, P9_TLOPEN, "dd|Q", 5, 2, &qid);
}

static int do_write(struct p9_client *c)
{
	ssize_t put = p9_client_write(c, 5, 77, "some bytes", 10, true);

	return put < 0 ? put : put <= 10 ? 0 : -ERANGE;
}

static int do_mkdir(struct p9_client *c)
{
	return p9_client_call(c, P9_TMKDIR, "dsdd", 5, "dir", 0755, 0);
}

static void right_walk(void)
{
	REPLY("w" REPLY_QID, 1, QID);
}

static void right_data(void)
{
	REPLY("dddd", 12, 1, 2, 3);
}

static void right_entries(void)
{
	struct p9_msg m = {.buf = server.reply, .size = MOST};

	p9_msg_put(&m, "d" REPLY_QID "qbs" REPLY_QID "qbs", 0, QID, 1ull, 4, "one", QID, 2ull, 8, "another");
	server.len = m.at;
	m.at = 0;
	p9_msg_put(&m, "d", server.len - 4);
}

static void right_attributes(void)
{
	REPLY("q" REPLY_QID "dddqqqqqqqqqqq", 0x7ffull, QID, 0100644, 1000, 100, 2ull, 0ull, 4096ull, 512ull, 8ull,
	      5ull, 6ull, 7ull, 8ull, -1ull, 10ull);
	memset(server.reply + server.len, 0, 32);
	server.len += 32; /* of when it was made, and its generation */
}

static void right_text(void)
{
	REPLY("s", "where it leads");
}

static void right_sizes(void)
{
	REPLY("ddqqqqqqd", 1, 4096, 10ull, 9ull, 8ull, 7ull, 6ull, 5ull, 255);
}

static void right_open(void)
{
	REPLY(REPLY_QID "d", QID, 0);
}

static void right_count(void)
{
	REPLY("d", 10);
}

static void right_qid(void)
{
	REPLY(REPLY_QID, QID);
}

static const struct operation {
	int (*run)(struct p9_client *c);
	void (*right)(void);
	bool looks; /* it looks at the body of the reply to its end */
} operations[] = {
	{do_walk, right_walk, true},	       {do_read, right_data, true},	{do_readdir, right_entries, true},
	{do_getattr, right_attributes, false}, {do_readlink, right_text, true}, {do_statfs, right_sizes, true},
	{do_open, right_open, false},	       {do_write, right_count, true},	{do_mkdir, right_qid, false},
};
#define for_each_operation(op) for (op = operations; op < operations + ARRAY_SIZE(operations); op++)

/*
 * Every operation with a right reply: the result is 0, the log is silent, and each field has come out as it was put
 * in. A field at a wrong offset fails here.
 */
static void test_right_replies(void **state)
{
	struct p9_client *c = session();
	const struct operation *op;

	for_each_operation(op)
	{
		op->right();
		assert_int_equal(op->run(c), 0);
	}
	assert_int_equal(said, 0);
	assert_true(qid.type == 0x80 && qid.version == 7 && qid.path == 0x1122334455667788ull);
	assert_string_equal(text, "where it leads");
	assert_true(stat_.mode == 0100644 && stat_.uid == 1000 && stat_.gid == 100 && stat_.nlink == 2);
	assert_true(stat_.size == 4096 && stat_.blocks == 8);
	assert_true(stat_.atime == 5000000006 && stat_.mtime == 7000000008 && stat_.ctime == 0);
	assert_true(sizes32[1] == 4096 && sizes[0] == 10 && sizes[2] == 8 && sizes[4] == 6 && sizes32[2] == 255);
	assert_memory_equal(data, "another", 7);
	end(c);
}

/* What goes out, byte by byte. */
static void test_requests(void **state)
{
	struct p9_client *c = session();

	right_walk();
	assert_int_equal(p9_client_walk(c, 0x01020304, "ab", &fid, &qid), 0);
	assert_int_equal(fid, 1);
	assert_int_equal(server.got_len, 21);
	assert_memory_equal(server.got, "\x15\0\0\0\x6e\0\0\x04\x03\x02\x01\x01\0\0\0\x01\0\x02\0ab", 21);
	p9_client_clunk(c, fid);
	assert_memory_equal(server.got, "\x0b\0\0\0\x78\0\0\x01\0\0\0", 11);
	right_count();
	assert_int_equal(p9_client_write(c, 5, 0x1122334455ull, "some bytes", 10, true), 10);
	assert_memory_equal(server.got, "\x21\0\0\0\x76\0\0\x05\0\0\0\x55\x44\x33\x22\x11\0\0\0\x0a\0\0\0some bytes",
			    33);
	missing = 7;
	right_count();
	server.reply[0] = 3;
	assert_int_equal(p9_client_write(c, 5, 0, "some bytes", 10, false), 3);
	assert_memory_equal(server.got + 19, "\x03\0\0\0som", 7);
	missing = 10;
	assert_int_equal(p9_client_write(c, 5, 0, "some bytes", 10, false), -EFAULT);
	end(c);
}

/* Data beyond what one message carries, and memory that has no piece as large as that. */
static void test_large(void **state)
{
	struct p9_client *c = session();
	struct p9_req *req;

	REPLY("d", 8192);
	server.len += 8192;
	assert_int_equal(p9_client_read(c, P9_TREAD, 5, 0, 1 << 20, &req), 8192);
	assert_int_equal(got_number(19, 4), 8192);
	p9_req_put(req);
	server.no_memory_above = 4096;
	REPLY("d", 4096);
	server.len += 4096;
	assert_int_equal(p9_client_read(c, P9_TREAD, 5, 0, 1 << 20, &req), 4096);
	p9_req_put(req);
	server.no_memory_above = 2000;
	assert_int_equal(p9_client_read(c, P9_TREAD, 5, 0, 1 << 20, &req), -ENOMEM);
	server.no_memory_above = 10;
	assert_int_equal(do_mkdir(c), -ENOMEM);
	end(c);
}

/*
 * An error reply becomes that errno, for every operation; a number that is no errno, and an error reply without an
 * error, become EIO. No fid may be left over, or a long session would run out of them.
 */
static void test_errors(void **state)
{
	static const struct {
		u32 number;
		int err;
	} errors[] = {{2, -ENOENT}, {13, -EACCES}, {122, -122}, {4095, -4095}, {4096, -EIO}, {~0u, -EIO}};
	struct p9_client *c = session();
	const struct operation *op;

	for (unsigned i = 0; i < ARRAY_SIZE(errors); i++) {
		server.error = errors[i].number;
		for_each_operation(op) assert_int_equal(op->run(c), errors[i].err);
	}
	assert_int_equal(bitmap_weight(c->fids, P9_FIDS), 0);
	server.error = 0;
	REPLY("d", 0); /* an error reply without an error */
	server.type_off = P9_RLERROR - (P9_TMKDIR + 1);
	assert_int_equal(do_mkdir(c), -EIO);
	end(c);
}

/* Each reply with each way for its head to be wrong, and cut at each byte. */
static void test_wrong_heads(void **state)
{
	struct p9_client *c = session();
	const struct operation *op;

	for_each_operation(op)
	{
		op->right();
		for (int off = -3; off <= 3; off++) {
			server.size_off = off;
			assert_int_equal(op->run(c), off ? -EIO : 0);
			server.size_off = 0;
			op->right();
			server.tag_off = off;
			assert_int_equal(op->run(c), off ? -EIO : 0);
			server.tag_off = 0;
			op->right();
			server.type_off =
				op->run == do_statfs && off == -2 ? -4 : off; /* -2 makes an error reply of it */
			assert_int_equal(op->run(c), off ? -EIO : 0);
			server.type_off = 0;
			op->right();
		}
		for (u32 came = 0; came < P9_HEADER + server.len; came++) {
			server.came = came;
			assert_int_equal(op->run(c), -EIO);
		}
		server.came = -1;
		/* A whole message that is shorter than its fields. */
		for (u32 len = server.len; op->looks && len--;) {
			server.len = len;
			assert_int_equal(op->run(c), -EIO);
			op->right();
		}
	}
	assert_true(said > 0);
	end(c);
}

/* Bytes that are wrong anywhere: no reply makes the client read or write where it must not. */
static void test_flipped_bytes(void **state)
{
	struct p9_client *c = session();
	const struct operation *op;

	srand(9);
	for (unsigned round = 0; round < 20000; round++) {
		for_each_operation(op)
		{
			op->right();
			for (int n = rand() % 4; n >= 0; n--)
				server.reply[rand() % server.len] = rand() % 3 ? rand() : rand() % 2 ? 0xff : 0;
			if (rand() % 4 == 0)
				server.len = rand() % (2 * server.len);
			op->run(c);
			assert_int_equal(tags_in_use(), 0);
		}
	}
	assert_int_equal(bitmap_weight(c->fids, P9_FIDS), 0);
	end(c);
}

/*
 * Names of directory entries that no file can have: with a slash, empty, longer than 255 bytes, with a zero inside.
 * The server must not be able to hand them to the kernel's path walk.
 */
static void test_names_of_entries(void **state)
{
	static const struct {
		const char *name;
		int result;
	} names[] = {{"good", 1}, {"a/b", -EIO}, {"", -EIO}, {"/", -EIO}};
	char longest[257];
	struct p9_dirent entry;
	struct p9_msg m = {.buf = server.reply, .size = MOST};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		m = (struct p9_msg){.buf = server.reply, .size = MOST};
		p9_msg_put(&m, REPLY_QID "qbs", QID, 1ull, 4, names[i].name);
		m = (struct p9_msg){.buf = server.reply, .size = m.at};
		assert_int_equal(p9_msg_get_dirent(&m, &entry), names[i].result);
	}
	memset(longest, 'x', 256);
	longest[256] = '\0';
	for (unsigned cut = 0; cut < 2; cut++) {
		longest[256 - cut] = '\0';
		m = (struct p9_msg){.buf = server.reply, .size = MOST};
		p9_msg_put(&m, REPLY_QID "qbs", QID, 1ull, 4, longest);
		m = (struct p9_msg){.buf = server.reply, .size = m.at};
		assert_int_equal(p9_msg_get_dirent(&m, &entry), cut ? 1 : -EIO);
	}
	server.reply[26] = '\0'; /* in the middle of a name */
	m.at = 0;
	assert_int_equal(p9_msg_get_dirent(&m, &entry), -EIO);
}

/* Messages whose numbers do not agree with each other or with what was asked for. */
static void test_liars(void **state)
{
	struct p9_client *c = session();

	right_data();
	server.reply[0] = 11; /* of 12 bytes */
	assert_int_equal(do_read(c), -EIO);
	right_count();
	server.reply[0] = 11; /* 10 were sent */
	assert_int_equal(do_write(c), -EIO);
	right_text();
	assert_int_equal(p9_client_readlink(c, 1, text, server.len - 2), -ENAMETOOLONG);
	right_text();
	assert_int_equal(p9_client_readlink(c, 1, text, server.len - 2 + 1), 0);
	for (u16 names = 0; names < 3; names++) {
		right_walk();
		memcpy(server.reply, &names, 2);
		assert_int_equal(do_walk(c), names == 1 ? 0 : -EIO);
		right_walk();
		memcpy(server.reply, &names, 2);
		assert_int_equal(p9_client_walk(c, 1, NULL, &fid, NULL), names == 0 ? 0 : -EIO);
		if (!names)
			p9_client_clunk(c, fid);
	}
	assert_int_equal(bitmap_weight(c->fids, P9_FIDS), 0);
	right_attributes();
	server.reply[0] = 0; /* not all that was asked for */
	assert_int_equal(do_getattr(c), -EIO);
	right_attributes();
	memset(server.reply + 49, 0xff, 8); /* a negative size */
	assert_int_equal(do_getattr(c), -EIO);
	end(c);
}

/* What does not fit into a message is not sent. */
static void test_too_long(void **state)
{
	struct p9_client *c = session();
	static char name[70000];
	unsigned sent = server.sent;

	memset(name, 'n', sizeof(name) - 1);
	assert_int_equal(p9_client_walk(c, 1, name, &fid, &qid), -ENAMETOOLONG);
	assert_int_equal(p9_client_call(c, P9_TSYMLINK, "dssd", 1, "link", name, 0), -ENAMETOOLONG);
	name[4095] = '\0';
	right_qid();
	assert_int_equal(p9_client_call(c, P9_TSYMLINK, "dssd", 1, "link", name, 0), 0);
	c->msize = 4096; /* as agreed with a server of small messages: the same text is too long now */
	assert_int_equal(p9_client_call(c, P9_TSYMLINK, "dssd", 1, "link", name, 0), -ENAMETOOLONG);
	c->msize = P9_MSIZE;
	REPLY("s", "a target that has no room in what the caller gives for it");
	assert_int_equal(p9_client_readlink(c, 1, text, 20), -ENAMETOOLONG);
	assert_int_equal(server.sent, sent + 2);
	end(c);
}

/*
 * Servers that speak another protocol, or that offer messages too small or larger than was asked for, must be refused
 * with the right error, and leave neither a tag nor the channel in use. A channel that is mounted already is busy.
 */
static void test_versions(void **state)
{
	static const struct {
		u32 msize;
		const char *version;
		int err;
	} answers[] = {{8192, "9P2000", -EOPNOTSUPP},
		       {8192, "unknown", -EOPNOTSUPP},
		       {4095, "9P2000.L", -EIO},
		       {P9_MSIZE + 1, "9P2000.L", -EIO}};
	struct p9_client *c = session();

	assert_ptr_equal(p9_client_create("host", P9_MSIZE, host_timeout), ERR_PTR(-EBUSY));
	end(c);
	for (unsigned i = 0; i < ARRAY_SIZE(answers); i++) {
		REPLY("ds", answers[i].msize, answers[i].version);
		assert_ptr_equal(p9_client_create("host", P9_MSIZE, host_timeout), ERR_PTR(answers[i].err));
		assert_int_equal(got_number(5, 2), 0xffff);
	}
	assert_ptr_equal(p9_client_create("host", 100, host_timeout), ERR_PTR(-EINVAL));
	assert_false(chan.mounted);
	assert_int_equal(tags_in_use(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right_replies),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_wrong_heads),
		cmocka_unit_test(test_flipped_bytes),
		cmocka_unit_test(test_names_of_entries),
		cmocka_unit_test(test_liars),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
