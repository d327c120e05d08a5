/*
 * The line discipline: what is typed, what a read gets and when, what is echoed. The one task reads; TYPE_WHILE_ASLEEP
 * gives the texts that are typed each time it sleeps, and EXPECT_SHOWN compares what the terminal shows (host_tty.h).
 * The expected results are POSIX's and Linux's.
 */
/* sources: kernel/lib/char_width.c */
/* include: tests/unit/include-mm */
#include <host_tty.h>

/* ---- Characters */

/* The first and the last of each kind that is shown or not: with a wrong one the cursor is not where we think. */
static void test_characters_that_are_shown(void **state)
{
	static const char *const shown[] = {" ",
					    "~",
					    "\xc2\xa0",
					    "\xdf\xbf",
					    "\xe0\xa0\x80",
					    "\xed\x9f\xbf",
					    "\xee\x80\x80",
					    "\xef\xbf\xbd",
					    "\xf0\x90\x80\x80"};
	static const char *const not_shown[] = {
		"\x1f",		"\x7f",		"\xc2\x80",	"\xc2\x9f",	    "\xc1\xbf",		"\xe0\x9f\xbf",
		"\xed\xa0\x80", "\xed\xbf\xbf", "\xe2\x80\x8f", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\x80",
		"\xc2 ",	"\xe2\x80"};

	for (unsigned i = 0; i < ARRAY_SIZE(shown); i++)
		if (utf8_shown(shown[i], strlen(shown[i])) != strlen(shown[i]))
			fail_msg("number %u is not shown", i);
	for (unsigned i = 0; i < ARRAY_SIZE(not_shown); i++)
		if (utf8_shown(not_shown[i], strlen(not_shown[i])))
			fail_msg("number %u is shown", i);
}

/* ---- Lines */

/*
 * A read gets one line at most, and waits until a line is complete; a part of a line wakes nobody. A reader that is
 * woken for each key would only cost time, so the sleeps are counted.
 */
static void test_lines_one_at_a_time(void **state)
{
	type("one\ntwo\r");
	EXPECT_SHOWN("one\r\ntwo\r\n");
	assert_int_equal(n_tty_available(&tty), 8);
	EXPECT_READ(100, "one\n");
	EXPECT_READ(2, "tw");
	EXPECT_READ(100, "o\n");
	assert_int_equal(host_sleeps, 0);
	type("half");
	assert_false(n_tty_readable(&tty));
	assert_int_equal(n_tty_available(&tty), 0);
	assert_int_equal(read_n(&not_blocking, 100), -EAGAIN);
	TYPE_WHILE_ASLEEP("-", "whole\nnext");
	EXPECT_READ(100, "half-whole\n");
	assert_int_equal(host_sleeps, 1); /* a part of a line wakes nobody */
	assert_false(n_tty_readable(&tty));
	type("\n");
	EXPECT_READ(4, "next");
	EXPECT_READ(100, "\n");
}

/* A ^D at the beginning of a line is an end of file, once; behind text it ends the line, and is no text itself. */
static void test_end_of_file(void **state)
{
	type("\004");
	assert_true(n_tty_readable(&tty));
	assert_int_equal(n_tty_input_bytes(&tty), 0);
	EXPECT_READ(10, "");
	type("\004ab\004cd\n");
	assert_int_equal(n_tty_input_bytes(&tty), 5);
	EXPECT_READ(10, "");
	EXPECT_READ(10, "ab");
	EXPECT_READ(10, "cd\n");
	type("ef\004\004");
	EXPECT_READ(2, "ef"); /* the first mark goes with it, though there is room for no more */
	EXPECT_READ(10, "");
	type("gh\004ij\n");
	EXPECT_READ(1, "g");
	EXPECT_READ(1, "h");
	EXPECT_READ(10, "ij\n");
	assert_int_equal(host_sleeps, 0);
}

/*
 * Backspace, word and line erase, tabs and control characters: what they remove, and what the terminal shows for it,
 * to the column. ^V makes the next key data.
 */
static void test_editing(void **state)
{
	type("abx\177c\n");
	EXPECT_SHOWN("abx\b \bc\r\n");
	EXPECT_READ(10, "abc\n");
	type("\177\177a\177\177b\n");
	EXPECT_READ(10, "b\n");
	type("one two_3  \027x\n");
	EXPECT_READ(20, "one x\n");
	type("\027gone\025kept\n");
	EXPECT_READ(20, "kept\n");
	type("first\nab\025\n"); /* not beyond the line in work */
	EXPECT_READ(20, "first\n");
	EXPECT_READ(20, "\n");
	nr_shown = 0;
	type("ab\t\177c\n"); /* a tab takes what it took to the next stop */
	EXPECT_SHOWN("ab\t\b \b\b \b\b \b\b \b\b \b\b \bc\r\n");
	EXPECT_READ(20, "abc\n");
	nr_shown = 0;
	type("a\001b\177\177\022\n");
	EXPECT_SHOWN("a^Ab\b \b\b \b\b \b^R\r\na\r\n");
	EXPECT_READ(20, "a\n");
	tty.termios.c_lflag &= ~ECHO; /* without echo nothing is wiped off */
	nr_shown = 0;
	type("xy\177z\n");
	EXPECT_SHOWN("");
	EXPECT_READ(20, "xz\n");
	tty.termios.c_lflag |= ECHO;
	type("\026\003\026\004\026\n\n"); /* ^V: the next one is data, whatever it means */
	EXPECT_READ(20, "\003\004\n\n");
	assert_int_equal(nr_signals, 0);
	type("ab\026"); /* a flush takes the ^V away, too */
	n_tty_flush_input(&tty);
	type("\003");
	assert_int_equal(nr_signals, 1);
}

/*
 * A line as long as the buffer, one less and one more: what does not fit is counted and rings the bell, and the
 * newline still ends the line.
 */
static void test_longest_line(void **state)
{
	static char text[TTY_BUF_SIZE + 1000];

	for (int more = -1; more <= 1; more++) {
		unsigned n = TTY_BUF_SIZE - 1 + more;

		fresh(NULL);
		memset(text, 'a', n);
		for (unsigned at = 0; at < n; at += 512)
			type_bytes(text + at, min(n - at, 512u));
		type_bytes("\n", 1);
		assert_int_equal(read_n(&blocking, sizeof(got) - 1), min(n, TTY_BUF_SIZE - 1u) + 1);
		assert_int_equal(got[min(n, TTY_BUF_SIZE - 1u)], '\n');
		assert_int_equal(tty.drops, more > 0);
		assert_int_equal(strchr(shown, '\a') != NULL, more > 0);
	}
}

/* Lines of all lengths through a buffer that wraps around, read in pieces of all sizes. */
static void test_many_lines(void **state)
{
	char line[200];

	for (unsigned i = 0; i < 3000; i++) {
		unsigned n = host_random() % 150, room = 1 + host_random() % 60, at = 0;

		for (unsigned k = 0; k < n; k++)
			line[k] = 'a' + (i + k) % 26;
		line[n] = '\n';
		type_bytes(line, n + 1);
		while (at <= n) {
			ssize_t res = read_n(&not_blocking, room);

			assert_int_equal(res, min(room, n + 1 - at));
			assert_memory_equal(got, line + at, res);
			at += res;
		}
		nr_shown = 0;
	}
	assert_int_equal(read_n(&not_blocking, 10), -EAGAIN);
}

/* ---- Signals */

static void test_interrupt_ends_a_canonical_read(void **state)
{
	TYPE_WHILE_ASLEEP("abc", "\003");
	assert_int_equal(read_n(&blocking, 100), -ERESTARTSYS);
	assert_int_equal(nr_signals, 1);
	assert_int_equal(signals[0], SIGINT);
	EXPECT_SHOWN("abc^C");
	clear_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	assert_false(n_tty_readable(&tty));
	type("def\n"); /* nothing of the line before is left */
	EXPECT_READ(100, "def\n");
}

/* ^C throws away what was typed before it, unless NOFLSH is set; ^\\ and ^Z send their signals. */
static void test_interrupt_flushes(void **state)
{
	type("line\nhalf\003after\n");
	assert_int_equal(signals[0], SIGINT);
	clear_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	EXPECT_READ(100, "after\n");
	set_flags(COOKED | NOFLSH, 1, 0);
	type("line\nhalf\003after\n");
	clear_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	EXPECT_READ(100, "line\n");
	EXPECT_READ(100, "halfafter\n");
	assert_int_equal(nr_signals, 2);
	type("\034\032");
	assert_int_equal(nr_signals, 4);
	assert_int_equal(signals[2], SIGQUIT);
	assert_int_equal(signals[3], SIGTSTP);
}

/* Output that is pending goes too, and a stopped terminal goes on. */
static void test_interrupt_flushes_output(void **state)
{
	line_full = true;
	assert_int_equal(tty_output(&tty, "lost", 4), 4);
	type("\023\003");
	assert_false(tty.stopped);
	line_full = false;
	tty_kick(&tty);
	EXPECT_SHOWN("^C");
}

/*
 * Without ICANON a reader keeps what it has; without ISIG the keys are data; a key that is disabled is data, and the
 * byte that stands for "disabled" can be typed.
 */
static void test_interrupt_and_raw_readers(void **state)
{
	set_flags(ISIG, 5, 0);
	TYPE_WHILE_ASLEEP("ab", "\003");
	assert_int_equal(read_n(&blocking, 10), 2); /* what came before the key it has had already */
	assert_int_equal(signals[0], SIGINT);
	clear_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	set_flags(0, 1, 0);
	type("\003\034\032\004\177\025");
	EXPECT_READ(10, "\003\034\032\004\177\025");
	assert_int_equal(nr_signals, 1);
	set_flags(ISIG, 1, 0);
	tty.termios.c_cc[VINTR] = _POSIX_VDISABLE;
	type("\003");
	EXPECT_READ(10, "\003");
	type_bytes("\0", 1); /* what stands for no key is one that can be typed */
	assert_int_equal(read_n(&blocking, 10), 1);
	assert_int_equal(got[0], 0);
	tty.pgrp = 0;
	type("\034");
	assert_int_equal(nr_signals, 1);
}

/* The key works although what was typed before it is stuck behind a reader that does not read. */
static void test_interrupt_jumps_the_queue(void **state)
{
	static char text[TTY_BUF_SIZE + 512];

	memset(text, 'x', sizeof(text));
	for (unsigned i = 79; i < sizeof(text); i += 80)
		text[i] = '\n';
	for (unsigned at = 0; at < sizeof(text); at += 128)
		type_bytes(text + at, 128);
	assert_true(tty.rx_head != tty.rx_tail);
	type("\003");
	assert_int_equal(nr_signals, 1);
	assert_int_equal(read_n(&not_blocking, 10), -EAGAIN);
}

/* ---- VMIN and VTIME */

#define TENTH (100 * NSEC_PER_MSEC)

/* VMIN alone: a read waits for that many bytes, takes more if they are there, and never more than asked for. */
static void test_min_without_time(void **state)
{
	set_flags(0, 3, 0);
	type("ab");
	assert_false(n_tty_readable(&tty));
	assert_int_equal(n_tty_available(&tty), 2);
	TYPE_WHILE_ASLEEP("c", "d");
	EXPECT_READ(10, "abc");
	assert_int_equal(host_sleeps, 1);
	TYPE_WHILE_ASLEEP("a",
			  "\xff"
			  "b",
			  "cde");
	EXPECT_READ(10, "abcde"); /* more than the least is taken at once */
	type("xyz!");
	assert_true(n_tty_readable(&tty));
	EXPECT_READ(2, "xy"); /* no more than there is room for */
	type("12");
	EXPECT_READ(3, "z!1");
	EXPECT_READ(1, "2");
	type("q");
	assert_int_equal(read_n(&not_blocking, 5), 1);
	assert_int_equal(read_n(&not_blocking, 5), -EAGAIN);
}

/* VMIN and VTIME: the first byte may take its time, then each must follow within VTIME, counted from the last one. */
static void test_min_and_time(void **state)
{
	s64 start;

	set_flags(0, 5, 2);
	start = host_now;
	TYPE_WHILE_ASLEEP("\xff", "\xff", "\xff", "\xff", "\xff",
			  "\xff"
			  "a",
			  "\xff"
			  "b"); /* the first byte may take its time */
	EXPECT_READ(10, "ab");
	assert_int_equal(host_now - start, 350 * NSEC_PER_MSEC + 2 * TENTH); /* from the last byte on */
	TYPE_WHILE_ASLEEP("abc", "\xff"
				 "de");
	start = host_now;
	EXPECT_READ(10, "abcde");
	assert_int_equal(host_now - start, 50 * NSEC_PER_MSEC);
}

/* VTIME alone is a limit for the whole read; with both 0 a read takes what is there and never sleeps. */
static void test_time_without_min(void **state)
{
	s64 start = host_now;

	set_flags(0, 0, 7);
	EXPECT_READ(10, "");
	assert_int_equal(host_now - start, 7 * TENTH);
	TYPE_WHILE_ASLEEP("\xff"
			  "k");
	EXPECT_READ(10, "k");
	assert_int_equal(host_now - start, 7 * TENTH + 50 * NSEC_PER_MSEC);
	set_flags(0, 0, 0);
	host_sleeps = 0;
	EXPECT_READ(10, "");
	type("zz");
	EXPECT_READ(1, "z");
	EXPECT_READ(10, "z");
	assert_int_equal(host_sleeps, 0);
}

/* ---- Modes that change */

/* Between canonical and raw mode nothing that was typed is lost, doubled or edited afterwards. */
static void test_mode_changes(void **state)
{
	type("whole\nhalf");
	set_flags(ISIG, 1, 0); /* to raw: all of it can be read at once */
	EXPECT_READ(100, "whole\nhalf");
	type("more");
	set_flags(COOKED, 1, 0); /* to canonical: what is there counts as a line */
	type("line\n");
	EXPECT_READ(100, "more");
	EXPECT_READ(100, "line\n");
	type("one\ntwo\n");
	set_flags(ISIG, 1, 0);
	set_flags(COOKED, 1, 0);
	EXPECT_READ(100, "one\ntwo\n");
	type("ab\004");
	set_flags(ISIG, 1, 0);
	set_flags(COOKED, 1, 0);
	type("\177\n"); /* what was there is not edited any more */
	EXPECT_READ(100, "ab");
	EXPECT_READ(100, "\n");
}

/* ---- Much input: the driver is held up in time, goes on in time, and nothing is lost. */

/*
 * 100,000 bytes through small buffers: the driver is held up in time, goes on in time, and each byte arrives once, in
 * order. A driver that is never let go on is a dead terminal.
 */
static void test_held_up(void **state)
{
	unsigned sent = 0, received = 0;
	char chunk[64];

	set_flags(0, 1, 0);
	tty.termios.c_iflag = 0;
	while (received < 100000) {
		unsigned before = sent + received;

		while (!held_up && sent < 100000) {
			for (unsigned i = 0; i < sizeof(chunk); i++)
				chunk[i] = (char)((sent + i) % 251);
			type_bytes(chunk, sizeof(chunk));
			sent += sizeof(chunk);
		}
		for (ssize_t n = read_n(&not_blocking, 1 + host_random() % 700), i = 0; i < n; i++, received++)
			assert_int_equal((u8)got[i], received % 251);
		if (sent + received == before)
			fail_msg("%u bytes of %u came; the driver is %s", received, sent,
				 held_up ? "held up for ever" : "done");
	}
	assert_int_equal(tty.drops, 0);
	assert_int_equal(received, sent);
	assert_true(nr_throttles >= 2 * (100000 / (TTY_RX_SIZE + TTY_BUF_SIZE)) && !held_up);
}

/* A driver that does not stop: what finds no room is counted, and what was there before is not touched. */
static void test_dropped(void **state)
{
	static char sent[TTY_BUF_SIZE - 1 + TTY_RX_SIZE + 2];
	unsigned received = 0, left;

	set_flags(0, 1, 0);
	tty.termios.c_iflag = 0;
	for (unsigned i = 0; i < sizeof(sent); i++)
		sent[i] = (char)(i % 251);
	type_bytes(sent, TTY_BUF_SIZE - 1);
	type_bytes(sent + TTY_BUF_SIZE - 1, TTY_RX_SIZE);
	assert_int_equal(tty.drops, 0);
	assert_true(held_up);
	type_bytes(sent + sizeof(sent) - 2, 2);
	assert_int_equal(tty.drops, 2);
	/* It goes on when less than a quarter waits, not before and not only when nothing does. */
	while (received < sizeof(sent) - 2) {
		bool was = held_up;
		ssize_t n = read_n(&not_blocking, 100);

		for (ssize_t i = 0; i < n; i++, received++)
			assert_int_equal((u8)got[i], received % 251);
		left = tty.rx_head - tty.rx_tail;
		if (was && !held_up)
			assert_in_range(left, 1, TTY_RX_SIZE / 4 - 1);
		assert_int_equal(held_up, left >= TTY_RX_SIZE / 4);
	}
	assert_int_equal(read_n(&not_blocking, 1), -EAGAIN);
}

/* ---- Output */

/*
 * Newlines and columns of output; ^S stops it, for programs and for the transmit interrupt, and ^Q lets it go on;
 * without OPOST or ONLCR bytes stay as they are.
 */
static void test_output(void **state)
{
	bool wake;

	assert_int_equal(tty_output(&tty, "a\n\tb", 4), 4);
	tty_kick(&tty);
	EXPECT_SHOWN("a\r\n\tb");
	assert_int_equal(tty.column, 9);
	type("\023"); /* ^S: output waits, ^Q: it goes on; neither is input */
	assert_int_equal(tty_output(&tty, "later", 5), 5);
	tty_kick(&tty);
	EXPECT_SHOWN("");
	assert_int_equal(tty_tx_pull(&tty, got, 1, &wake), 0); /* nor does the transmit interrupt get anything */
	type("\021");
	EXPECT_SHOWN("later");
	assert_false(n_tty_readable(&tty));
	type("\023\023k"); /* another key changes nothing, unless IXANY is set */
	assert_true(tty.stopped);
	tty.termios.c_iflag |= IXANY;
	type("k");
	assert_false(tty.stopped);
	EXPECT_SHOWN("kk");
	n_tty_flush_input(&tty);
	/* Control characters and the later bytes of a character take no column. */
	tty.column = 0;
	assert_int_equal(tty_output(&tty, "a\001\177\xc3\xa9z", 6), 6);
	tty_kick(&tty);
	EXPECT_SHOWN("a\001\177\xc3\xa9z");
	assert_int_equal(tty.column, 3);
	for (int post = 0; post < 2; post++) { /* without ONLCR, and without any processing */
		tty.termios.c_oflag = post ? OPOST : ONLCR;
		tty_output(&tty, "x\n", 2);
		tty_kick(&tty);
		EXPECT_SHOWN("x\n");
	}
}

/* Programs leave room for the echo of keys. */
static void test_full_output(void **state)
{
	static char text[TTY_TX_SIZE];
	unsigned n;

	line_full = true;
	memset(text, 'o', sizeof(text));
	n = tty_output(&tty, text, sizeof(text));
	assert_int_equal(n, TTY_TX_SIZE - TTY_ECHO_RESERVE - 1);
	assert_true(tty.writers_wait);
	assert_int_equal(tty_output(&tty, text, 1), 0);
	type("key");
	line_full = false;
	tty_kick(&tty);
	assert_int_equal(nr_shown, n + 3);
	assert_string_equal(shown + n, "key");
	assert_false(tty.writers_wait);
}

/*
 * printk in the middle of a program's line, after each number of bytes that the driver may have sent by then: the line
 * is finished first, so the message is a line of its own, and each line is whole and there once. After the carriage
 * return alone the column is 0 already, and the line has still not ended.
 */
static void test_message_between_lines(void **state)
{
	char wanted[64];
	bool wake;

	for (unsigned sent = 0; sent <= 10; sent++) {
		fresh(NULL);
		tty_console_init(&tty);
		line_full = true;
		tty_output(&tty, "one\ntwo\n", 8);
		nr_shown = tty_tx_pull(&tty, shown, sent, &wake);
		tty.console.write(&tty.console, "kernel\n", 7);
		line_full = false;
		tty_kick(&tty);
		snprintf(wanted, sizeof(wanted), "%skernel\r\n%s",
			 sent == 0   ? ""
			 : sent <= 5 ? "one\r\n"
				     : "one\r\ntwo\r\n",
			 sent == 0   ? "one\r\ntwo\r\n"
			 : sent <= 5 ? "two\r\n"
				     : "");
		assert_string_equal(shown, wanted);
	}
}

/* Halves of UTF-16's pairs are no characters, from the first to the last; their neighbours are. */
static void test_surrogates(void **state)
{
	assert_int_equal(utf8_shown("\xed\x9e\xa3", 3), 3); /* U+D7A3 */
	assert_int_equal(utf8_shown("\xed\xa0\x80", 3), 0); /* U+D800 */
	assert_int_equal(utf8_shown("\xed\xbf\xbf", 3), 0); /* U+DFFF */
	assert_int_equal(utf8_shown("\xee\x80\x80", 3), 3); /* U+E000 */
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

/*
 * The key to the kernel is what comes behind the break, not what was received before and was not looked at yet. It is
 * obeyed although the input before it is stuck.
 */
static void test_a_key_after_a_break(void **state)
{
	static char text[TTY_BUF_SIZE];

	set_flags(0, 1, 0);
	tty_receive(&tty, "c", 1);
	tty_receive_break(&tty);
	tty_receive(&tty, "hd", 2);
	n_tty_process(&tty);
	assert_int_equal(handled_key, 'h');
	EXPECT_READ(10, "cd");
	memset(text, 'a', sizeof(text)); /* the buffer holds one byte less */
	for (unsigned at = 0; at < sizeof(text); at += 512)
		tty_receive(&tty, text + at, 512);
	n_tty_process(&tty);
	tty_receive_break(&tty);
	tty_receive(&tty, "t", 1);
	n_tty_process(&tty);
	assert_int_equal(handled_key, 't');
}

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_characters_that_are_shown),
					   TEST(test_lines_one_at_a_time),
					   TEST(test_end_of_file),
					   TEST(test_editing),
					   TEST(test_longest_line),
					   TEST(test_many_lines),
					   TEST(test_interrupt_ends_a_canonical_read),
					   TEST(test_interrupt_flushes),
					   TEST(test_interrupt_flushes_output),
					   TEST(test_interrupt_and_raw_readers),
					   TEST(test_interrupt_jumps_the_queue),
					   TEST(test_min_without_time),
					   TEST(test_min_and_time),
					   TEST(test_time_without_min),
					   TEST(test_mode_changes),
					   TEST(test_held_up),
					   TEST(test_dropped),
					   TEST(test_a_key_after_a_break),
					   TEST(test_output),
					   TEST(test_full_output),
					   TEST(test_message_between_lines),
					   cmocka_unit_test(test_surrogates)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
