/*
 * The client of 9P when a task is killed while it waits for the server, and when the server goes away: answers that
 * come too late, in every order, after the end of the session, or never. Under ASan the test ends when memory is freed
 * while the server has it, or when it is never freed.
 */
/* sources: */
/* include: tests/unit/include-9p */
#include "fs_9p_host.h"

static struct p9_qid qid;
static struct p9_stat stat_;
static u32 fid;

static int do_walk(struct p9_client *c)
{
	int err = p9_client_walk(c, 1, "name", &fid, &qid);

	if (!err) {
		server.came = -1;
		p9_client_clunk(c, fid);
	}
	return err;
}

static int do_getattr(struct p9_client *c)
{
	return p9_client_getattr(c, 5, &stat_);
}

static void right_walk(void)
{
	REPLY("w" REPLY_QID, 1, QID);
}

static void right_data(void)
{
	REPLY("dddd", 12, 1, 2, 3);
}

static void right_attributes(void)
{
	REPLY("q" REPLY_QID "dddqqqqqqqqqqq", 0x7ffull, QID, 0100644, 1000, 100, 2ull, 0ull, 4096ull, 512ull, 8ull,
	      5ull, 6ull, 7ull, 8ull, -1ull, 10ull);
	memset(server.reply + server.len, 0, 32);
	server.len += 32; /* of when it was made, and its generation */
}

static const struct held *find_held(u8 type)
{
	for (unsigned i = 0; i < server.nr_held; i++)
		if (server.held[i].type == type)
			return &server.held[i];
	fail_msg("the server has no request of type %u", type);
	return NULL;
}

/*
 * A killed walk, whose answer and whose flush's answer come in both orders: the tag stays in use until both are there,
 * and a fid that was made is given back.
 */
static void killed_walk(bool made, bool flush_first)
{
	struct p9_client *c = session();
	const struct held *walk, *tflush;
	u32 clunked;

	server.hold = true;
	assert_int_equal(p9_client_walk(c, 1, "name", &fid, &qid), -ERESTARTSYS);
	walk = find_held(P9_TWALK);
	tflush = find_held(P9_TFLUSH);
	assert_int_equal(tflush->first, walk->tag);
	assert_int_not_equal(tflush->tag, walk->tag);
	assert_int_equal(tags_in_use(), 2);
	for (unsigned turn = 0; turn < 2; turn++) {
		if (turn == flush_first) {
			server.came = made ? -1 : 0; /* nothing came: the request was cancelled */
			right_walk();
			answer(walk);
		} else {
			server.came = -1;
			server.len = 0;
			answer(tflush);
		}
		assert_true((chan.tags[walk->tag / 64] >> walk->tag % 64 & 1) || turn);
	}
	assert_false((chan.tags[walk->tag / 64] >> walk->tag % 64 & 1));
	server.came = -1;
	server.len = 0;
	if (made) {
		clunked = find_held(P9_TCLUNK)->first;
		assert_int_equal(clunked, fid);
		assert_int_equal(bitmap_weight(c->fids, P9_FIDS), 1);
		answer(find_held(P9_TCLUNK));
	}
	assert_int_equal(bitmap_weight(c->fids, P9_FIDS), 0);
	end(c);
}

static void test_killed(void **state)
{
	for (unsigned i = 0; i < 4; i++)
		killed_walk(i & 1, i & 2);
}

static void answer_late(void)
{
	right_walk();
	server.hold = false;
	answer(find_held(P9_TWALK));
	while_waiting = NULL;
}

/* The answer comes while the task goes to sleep. */
static void test_answer_while_it_waits(void **state)
{
	struct p9_client *c = session();

	server.hold = true;
	while_waiting = answer_late;
	assert_int_equal(p9_client_walk(c, 1, "name", &fid, &qid), 0);
	p9_client_clunk(c, fid);
	end(c);
}

static void answer_flush(void)
{
	server.len = 0;
	answer(find_held(P9_TFLUSH));
	REPLY("ds", 8192, "9P2000.L");
	while_waiting = NULL;
}

/* A killed reader's memory is the server's until it answers, also beyond the end of the session. */
static void test_session_ends_before_the_answer(void **state)
{
	struct p9_client *c = session();
	struct p9_req *req;
	unsigned sent;

	server.hold = true;
	assert_int_equal(p9_client_read(c, P9_TREAD, 5, 0, 100, &req), -ERESTARTSYS);
	p9_client_destroy(c);
	assert_false(chan.mounted);
	server.hold = false;
	right_data();
	answer(find_held(P9_TREAD));
	sent = server.sent; /* the next session waits for what is left of this one, and so does a killed mount */
	assert_ptr_equal(p9_client_create("host", P9_MSIZE, host_timeout), ERR_PTR(-ERESTARTSYS));
	assert_int_equal(server.sent, sent);
	while_waiting = answer_flush;
	c = p9_client_create("host", P9_MSIZE, host_timeout);
	assert_false(IS_ERR(c));
	end(c);
}

/*
 * A server that falls silent, and a mount with a time limit: each call gives EIO, as long as there are tags and when
 * there are none any more, a new session too. The late answers free what was kept for them, and the next session works.
 */
static void test_silent(void **state)
{
	struct p9_client *c;
	struct p9_req *req;
	unsigned sent, lines = 0;

	host_timeout = 7 * HZ;
	c = session();
	server.hold = true;
	assert_int_equal(p9_client_walk(c, 1, "name", &fid, &qid), -EIO);
	assert_int_equal(find_held(P9_TFLUSH)->first, find_held(P9_TWALK)->tag);
	assert_int_equal(p9_client_read(c, P9_TREAD, 5, 0, 100, &req), -EIO);
	for (lines = 2; tags_in_use() < P9_TAGS; lines++)
		assert_int_equal(do_getattr(c), -EIO);
	assert_int_equal(said, lines);
	sent = server.sent;
	assert_int_equal(do_getattr(c), -EIO);
	p9_client_clunk(c, 5);
	assert_int_equal(server.sent, sent);
	p9_client_destroy(c);
	assert_ptr_equal(p9_client_create("host", P9_MSIZE, host_timeout), ERR_PTR(-EIO));
	assert_int_equal(server.sent, sent);
	server.hold = false;
	server.came = 0;
	for (unsigned i = 0; i < server.nr_held; i++)
		answer(&server.held[i]);
	assert_int_equal(tags_in_use(), 0);
	server.came = -1;
	REPLY("ds", 8192, "9P2000.L");
	c = p9_client_create("host", P9_MSIZE, host_timeout);
	assert_false(IS_ERR(c));
	server.room = 0; /* the queue is full, and stays so */
	assert_int_equal(do_getattr(c), -EIO);
	end(c);
	host_timeout = MAX_SCHEDULE_TIMEOUT;
}

static void break_it(void)
{
	p9_channel_broken(&chan);
}

/*
 * The channel breaks while one request is held and another one waits: the waiting task gets EIO at once and is woken
 * once, later calls get EIO, and no Tflush goes to a server that is gone. The memory that the server may still write
 * to stays until it has answered.
 */
static void test_broken(void **state)
{
	struct p9_client *c = session();
	unsigned woken;

	server.hold = true;
	assert_int_equal(do_getattr(c), -ERESTARTSYS); /* so that the next one has not the first tag */
	while_waiting = break_it;
	assert_int_equal(do_getattr(c), -EIO);
	woken = chan.reqs[server.held[2].tag]->wait.woken;
	assert_int_equal(woken, 1);
	assert_int_equal(do_getattr(c), -EIO);
	assert_int_equal(server.nr_held, 3); /* no Tflush to a server that is gone */
	p9_client_destroy(c);
	server.hold = false;
	for (unsigned i = 0; i < 3; i++)
		answer(&server.held[i]); /* they came after all; their memory goes */
	assert_int_equal(tags_in_use(), 0);
}

/* No more tags: a task waits for one, and when it is killed meanwhile, it has sent nothing. */
static void test_all_tags_in_use(void **state)
{
	struct p9_client *c = session();
	unsigned sent;

	server.hold = true;
	for (unsigned i = 0; i < P9_TAGS; i += 2)
		assert_int_equal(do_getattr(c), -ERESTARTSYS);
	assert_int_equal(tags_in_use(), P9_TAGS);
	sent = server.sent;
	assert_int_equal(do_getattr(c), -ERESTARTSYS);
	assert_int_equal(server.sent, sent);
	server.hold = false;
	server.came = 0;
	for (unsigned i = 0; i < server.nr_held; i++)
		answer(&server.held[i]);
	server.came = -1;
	right_attributes();
	assert_int_equal(do_getattr(c), 0);
	server.room = 0; /* the queue is full: the same */
	assert_int_equal(do_getattr(c), -ERESTARTSYS);
	assert_int_equal(do_walk(c), -ERESTARTSYS);
	p9_client_clunk(c, 1);
	assert_int_equal(bitmap_weight(c->fids, P9_FIDS), 0);
	end(c);
}

/*
 * There is no room for a Tclunk: the task leaves, killed or exiting, and the Tclunk follows when the server has
 * answered something else. Of several, each answer brings one.
 */
static void test_a_clunk_without_room_follows(void **state)
{
	struct p9_client *c = session();
	u32 fids[2];

	for (unsigned i = 0; i < 2; i++)
		fids[i] = p9_fid_alloc(c);
	server.room = 0;
	p9_client_clunk(c, fids[0]);
	current->flags = PF_EXITING;
	p9_client_clunk(c, fids[1]);
	current->flags = 0;
	server.room = 1;
	assert_int_equal(bitmap_weight(c->fids, P9_FIDS), 2);
	server.hold = false;
	right_attributes();
	assert_int_equal(do_getattr(c), 0);
	assert_int_equal(bitmap_weight(c->fids, P9_FIDS), 0); /* the answer to the first Tclunk sends the second */
	assert_int_equal(server.got[4], P9_TCLUNK);
	assert_int_equal(c->nr_stale, 0);
	end(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_answer_while_it_waits),
		cmocka_unit_test(test_session_ends_before_the_answer),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_all_tags_in_use),
		cmocka_unit_test(test_a_clunk_without_room_follows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
