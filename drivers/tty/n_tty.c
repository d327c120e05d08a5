/*
 * The line discipline's input side: echo, editing of the line in work, signals from keys.
 *
 *     rx ring (received) --n_tty_process--> buf: |read ... tail| whole lines |canon| line in work |head|
 *                                      \--> echo into the tx ring
 *
 * `tail`, `canon` and `head` count bytes for ever, and a byte's place is its count modulo the
 * ring's size, so head - tail is how many bytes there are. In canonical mode a reader gets what is
 * below `canon`, and editing keys change only what is above. Everything here runs in the softirq or
 * in a reader, with tty->lock ([l]) and interrupts off; what wakes or signals others waits until
 * the lock is free.
 */
#include "tty.h"

#include <irq/softirq.h>
#include <lib/char_width.h>
#include <lib/string.h>
#include <proc/signal.h>

#define BATCH 64 /* bytes looked at with interrupts off */

/* Is c the control character of this kind? A disabled one (_POSIX_VDISABLE) is never typed. */
static bool is_cc(const struct tty_struct *tty, char c, unsigned which)
{
	return tty->termios.c_cc[which] != _POSIX_VDISABLE && (unsigned char)c == tty->termios.c_cc[which];
}

static char buf_at(const struct tty_struct *tty, u32 i)
{
	return tty->buf[i % TTY_BUF_SIZE];
}

/*
 * [l] Store a byte of input. `end` says that it completes a line; a zero byte that does stands for
 * end of file. Returns false when there is no room.
 */
static bool buf_put(struct tty_struct *tty, char c, bool end)
{
	/* The last place is for the byte that ends a line, or a line too long could never be read. */
	if (tty->head - tty->tail >= TTY_BUF_SIZE - !end) {
		tty->drops++;
		return false;
	}
	if (tty->head == tty->canon)
		tty->line_column = tty->column;
	tty->buf[tty->head % TTY_BUF_SIZE] = c;
	if (end)
		set_bit(tty->head % TTY_BUF_SIZE, tty->mark);
	else
		clear_bit(tty->head % TTY_BUF_SIZE, tty->mark);
	tty->head++;
	if (end)
		tty->canon = tty->head;
	return true;
}

/* [l] */
static void n_tty_echo(struct tty_struct *tty, char c)
{
	unsigned char u = c;

	if (L_FLAG(tty, ECHOCTL) && (u < ' ' || u == 127) && c != '\t' && c != '\n') {
		char text[2] = {'^', c ^ 0100};

		tty_echo(tty, text, 2);
	} else {
		tty_echo_char(tty, c);
	}
}

/* Is this a later byte of a character in UTF-8? With IUTF8 off every byte is a character. */
static bool utf8_later(const struct tty_struct *tty, char c)
{
	return I_FLAG(tty, IUTF8) && ((unsigned char)c & 0xc0) == 0x80;
}

/* [l] Where the character begins whose last byte stands before `end`. */
static u32 char_start(const struct tty_struct *tty, u32 end)
{
	do
		end--;
	while (end != tty->canon && utf8_later(tty, buf_at(tty, end)));
	return end;
}

/*
 * [l] The column behind the character of bytes start..end, which begins at `column`, as
 * n_tty_echo() has shown it.
 */
static unsigned column_behind(const struct tty_struct *tty, u32 start, u32 end, unsigned column)
{
	unsigned char c = buf_at(tty, start);
	char bytes[4];
	unsigned n = 0;

	if (c == '\t')
		return (column | 7) + 1;
	if (c < ' ' || c == 127)
		return column + (L_FLAG(tty, ECHOCTL) ? 2 : 0);
	if (!I_FLAG(tty, IUTF8))
		return column + 1;
	while (start != end && n < sizeof(bytes))
		bytes[n++] = buf_at(tty, start++);
	return column + utf8_columns(bytes, n);
}

/*
 * [l] How many columns the character of bytes start..end takes, the last of the line. A tab's width
 * depends on where it began, so all characters before it are counted.
 */
static unsigned width_of(const struct tty_struct *tty, u32 start, u32 end)
{
	unsigned column = tty->line_column;

	if (buf_at(tty, start) != '\t')
		return column_behind(tty, start, end, 0);
	for (u32 i = tty->canon; i != start;) {
		u32 next = i + 1;

		while (next != start && utf8_later(tty, buf_at(tty, next)))
			next++;
		column = column_behind(tty, i, next, column);
		i = next;
	}
	return column_behind(tty, start, end, column) - column;
}

/*
 * [l] Remove the last character of the line in work, from the screen too. With IUTF8 that is all of
 * its bytes, and marks that combine with it go with it: they take no column, so a line of them
 * alone would be erased without a trace on the screen.
 */
static void erase_char(struct tty_struct *tty)
{
	unsigned width = 0;

	while (tty->head != tty->canon && !width) {
		u32 start = char_start(tty, tty->head);
		bool control = (unsigned char)buf_at(tty, start) < ' ';

		width = width_of(tty, start, tty->head);
		tty->head = start;
		if (control)
			break; /* without ECHOCTL it takes no column, and is a character all the same */
	}
	if (!L_FLAG(tty, ECHO) || !L_FLAG(tty, ECHOE))
		return;
	while (width--)
		tty_echo(tty, "\b \b", 3);
}

/* [l] The erase key. Without ECHOE the key itself is shown instead, as on printing terminals. */
static void do_erase(struct tty_struct *tty, char c)
{
	if (tty->head == tty->canon)
		return;
	erase_char(tty);
	if (L_FLAG(tty, ECHO) && !L_FLAG(tty, ECHOE))
		n_tty_echo(tty, c);
}

/*
 * [l] Remove white space before the cursor, then the word before that. Bytes of UTF-8 count as
 * parts of words.
 */
static void do_werase(struct tty_struct *tty)
{
	bool word = false;

	while (tty->head != tty->canon) {
		char c = buf_at(tty, tty->head - 1);
		bool in_word = isalnum(c) || c == '_' || ((unsigned char)c & 0x80);

		if (word && !in_word)
			return;
		word |= in_word;
		erase_char(tty);
	}
}

/*
 * [l] Remove the whole line: from the screen, too, if that is wanted and if the echo of it (six
 * bytes a character at most) fits into the ring.
 */
static void do_kill(struct tty_struct *tty, char c)
{
	bool visual = L_FLAG(tty, ECHOKE) && L_FLAG(tty, ECHOE) && (tty->head - tty->canon) * 6 < tty_echo_room(tty);

	if (!L_FLAG(tty, ECHO)) {
		tty->head = tty->canon;
	} else if (visual) {
		while (tty->head != tty->canon)
			erase_char(tty);
	} else {
		tty->head = tty->canon;
		n_tty_echo(tty, c);
		if (L_FLAG(tty, ECHOK))
			tty_echo_char(tty, '\n');
	}
}

/*
 * [l] Show the line in work again, on a line of its own: output of other programs may have torn it
 * apart.
 */
static void do_reprint(struct tty_struct *tty, char c)
{
	n_tty_echo(tty, c);
	tty_echo_char(tty, '\n');
	for (u32 i = tty->canon; i != tty->head; i++)
		n_tty_echo(tty, buf_at(tty, i));
}

void n_tty_flush_input(struct tty_struct *tty)
{
	tty->rx_tail = tty->rx_head;
	tty->head = tty->canon = tty->tail;
	tty->lnext = false;
}

/* Which signal a key means; 0: none. */
static int key_signal(const struct tty_struct *tty, char c)
{
	if (!L_FLAG(tty, ISIG))
		return 0;
	if (is_cc(tty, c, VINTR))
		return SIGINT;
	if (is_cc(tty, c, VQUIT))
		return SIGQUIT;
	return is_cc(tty, c, VSUSP) ? SIGTSTP : 0;
}

/*
 * [l] A key that means a signal. What was typed and what is to be printed is forgotten, unless
 * NOFLSH is set. The signal is sent later by n_tty_after_batch(): kill_pgrp() takes locks that may not be
 * taken under this one.
 */
static void do_signal_key(struct tty_struct *tty, char c)
{
	if (!L_FLAG(tty, NOFLSH)) {
		u32 rx_tail = tty->rx_tail;

		n_tty_flush_input(tty);
		tty->rx_tail = rx_tail; /* what follows the key was typed after it */
		tty_flush_output(tty);
	}
	tty_set_stopped(tty, false);
	if (L_FLAG(tty, ECHO))
		n_tty_echo(tty, c);
}

/* [l] Canonical input. Returns true if c was a key of the editor, which has been obeyed. */
static bool edit_key(struct tty_struct *tty, char c)
{
	bool ext = L_FLAG(tty, IEXTEN);

	if (is_cc(tty, c, VERASE) || (c == '\b' && is_cc(tty, 127, VERASE)))
		do_erase(tty, c); /* both ^H and DEL: terminals disagree about what the key sends */
	else if (is_cc(tty, c, VKILL))
		do_kill(tty, c);
	else if (ext && is_cc(tty, c, VWERASE))
		do_werase(tty);
	else if (ext && is_cc(tty, c, VREPRINT) && L_FLAG(tty, ECHO))
		do_reprint(tty, c);
	else if (is_cc(tty, c, VEOF))
		buf_put(tty, '\0', true);
	else
		return false;
	return true;
}

/* Does this byte complete a line? */
static bool ends_line(const struct tty_struct *tty, char c)
{
	return c == '\n' || is_cc(tty, c, VEOL) || (L_FLAG(tty, IEXTEN) && is_cc(tty, c, VEOL2));
}

/*
 * [l] Store a byte that is data, and echo it. `literal`: it was typed behind ^V and means nothing
 * special.
 */
static void store_char(struct tty_struct *tty, char c, bool literal)
{
	bool canon = L_FLAG(tty, ICANON), end = canon && !literal && ends_line(tty, c);

	if (canon && tty->head == tty->canon)
		tty->line_column = tty->column;
	if (!buf_put(tty, c, end)) {
		if (I_FLAG(tty, IMAXBEL))
			tty_echo_char(tty, '\a');
		return;
	}
	if (L_FLAG(tty, ECHO) || (c == '\n' && L_FLAG(tty, ECHONL) && canon)) {
		if (c == '\n' && !literal)
			tty_echo_char(tty, '\n');
		else
			n_tty_echo(tty, c);
	}
}

/* [l] ^S stops output, ^Q lets it go on; with IXANY any key does. Returns true if c was taken. */
static bool flow_key(struct tty_struct *tty, char c)
{
	if (!I_FLAG(tty, IXON))
		return false;
	if (is_cc(tty, c, VSTOP) || is_cc(tty, c, VSTART)) {
		tty_set_stopped(tty, is_cc(tty, c, VSTOP));
		return true;
	}
	if (I_FLAG(tty, IXANY) && tty->stopped)
		tty_set_stopped(tty, false);
	return false;
}

/* [l] Change the byte as c_iflag says. Returns false if it is a CR that is to be ignored. */
static bool map_input(struct tty_struct *tty, char *c)
{
	if (I_FLAG(tty, ISTRIP))
		*c &= 0x7f;
	if (I_FLAG(tty, IUCLC) && L_FLAG(tty, IEXTEN))
		*c = tolower(*c);
	if (*c == '\r') {
		if (I_FLAG(tty, IGNCR))
			return false;
		if (I_FLAG(tty, ICRNL))
			*c = '\n';
	} else if (*c == '\n' && I_FLAG(tty, INLCR)) {
		*c = '\r';
	}
	return true;
}

/*
 * [l] One received byte, through all stages. Returns the signal for the foreground process group,
 * or 0.
 */
static int n_tty_receive_char(struct tty_struct *tty, char c)
{
	int sig;

	if (tty->lnext) {
		tty->lnext = false;
		store_char(tty, c, true);
		return 0;
	}
	if (!map_input(tty, &c) || flow_key(tty, c))
		return 0;
	sig = key_signal(tty, c);
	if (sig) {
		do_signal_key(tty, c);
		return sig;
	}
	if (L_FLAG(tty, ICANON) && L_FLAG(tty, IEXTEN) && is_cc(tty, c, VLNEXT)) {
		tty->lnext = true;
		if (L_FLAG(tty, ECHO) && L_FLAG(tty, ECHOCTL))
			tty_echo(tty, "^\b", 2);
		return 0;
	}
	if (!L_FLAG(tty, ICANON) || !edit_key(tty, c))
		store_char(tty, c, false);
	return 0;
}

/*
 * [l] Is there room for what one more byte can cause: its echo, and itself? A full canonical buffer
 * without a line is an exception: nothing may wait for a reader, since a reader gets nothing before the line
 * ends. The line is too long then, and what is too much is dropped.
 */
static bool can_process(struct tty_struct *tty)
{
	if (tty_echo_room(tty) < 16)
		return false;
	if (tty->head - tty->tail < TTY_BUF_SIZE - 1)
		return true;
	return L_FLAG(tty, ICANON) && tty->canon == tty->tail;
}

/*
 * [l] Tell the driver when the buffer is nearly full, or has room again. This happens under the
 * lock: were it told later, an "on" of the interrupt could come behind the "off" of a reader on
 * another CPU, and input would stop for good.
 */
static void throttle_change(struct tty_struct *tty)
{
	u32 used = tty->rx_head - tty->rx_tail;

	if (!tty->throttled && used > TTY_RX_SIZE * 3 / 4)
		tty->throttled = true;
	else if (tty->throttled && used < TTY_RX_SIZE / 4)
		tty->throttled = false;
	else
		return;
	tty->ops->throttle(tty->port, tty->throttled);
}

/* What a batch leaves to be done without the lock: sending the echo, the signal, waking readers. */
static void n_tty_after_batch(struct tty_struct *tty, int sig, pid_t pgrp, bool wake)
{
	tty_kick(tty);
	if (sig && pgrp > 0)
		kill_pgrp(pgrp, sig);
	if (wake)
		wake_up_interruptible_all(&tty->read_wait);
}

/* The handler runs outside the terminal's lock: printk and panic write to the same port. */
static char sysrq_take(struct tty_struct *tty)
{
	char key = tty->sysrq_key;

	tty->sysrq_key = 0;
	return key;
}

/*
 * Bytes are looked at in batches, since interrupts are off meanwhile. A signal ends a batch, so
 * that what follows the key is handled after the signal was sent. The softirq and a reader may come
 * here at once; the lock keeps the bytes in order.
 */
void n_tty_process(struct tty_struct *tty)
{
	bool more = true;

	while (more) {
		const struct sysrq_reader *reader;
		unsigned long flags;
		int sig = 0;
		bool wake;
		pid_t pgrp;
		char key;

		spin_lock_irqsave(&tty->lock, flags);
		for (unsigned i = 0; i < BATCH && !sig && tty->rx_tail != tty->rx_head && can_process(tty); i++)
			sig = n_tty_receive_char(tty, tty->rx[tty->rx_tail++ % TTY_RX_SIZE]);
		more = tty->rx_tail != tty->rx_head && can_process(tty);
		throttle_change(tty);
		pgrp = tty->pgrp;
		key = sysrq_take(tty);
		/* Sleepers queue themselves before they look, with the lock: none is missed. */
		wake = n_tty_available(tty) && waitqueue_active(&tty->read_wait);
		spin_unlock_irqrestore(&tty->lock, flags);
		n_tty_after_batch(tty, sig, pgrp, wake);
		if (key)
			for_each_in_table(sysrq_readers, reader)
				reader->read(key);
	}
}

/*
 * [l] Must this key be obeyed although what was typed before it is stuck? A signal key must, and it
 * flushes that anyway.
 */
static bool jump_queue(struct tty_struct *tty, char c)
{
	return key_signal(tty, c) && !L_FLAG(tty, NOFLSH) && tty->rx_tail != tty->rx_head && !can_process(tty);
}

/* One byte after a break, whatever it is. Receive interrupt, tty->lock held. */
static bool sysrq_filter(struct tty_struct *tty, char c)
{
	if (likely(!tty->sysrq))
		return false;
	tty->sysrq = false;
	tty->sysrq_key = c;
	return true;
}

/* The next byte is taken by sysrq_filter(), and its handler runs in the softirq when the lock is free. */
void tty_receive_break(struct tty_struct *tty)
{
	unsigned long flags;

	spin_lock_irqsave(&tty->lock, flags);
	tty->sysrq = true;
	spin_unlock_irqrestore(&tty->lock, flags);
}

/*
 * Receive interrupt. The bytes are only stored; the softirq does the work, with interrupts on in between. A key to the
 * kernel is taken out here: what was received before the break is no such key, and may wait for long.
 */
void tty_receive(struct tty_struct *tty, const char *data, unsigned n)
{
	unsigned long flags;

	spin_lock_irqsave(&tty->lock, flags);
	for (unsigned i = 0; i < n; i++) {
		if (sysrq_filter(tty, data[i]))
			continue;
		if (jump_queue(tty, data[i]))
			n_tty_flush_input(tty);
		if (tty->rx_head - tty->rx_tail == TTY_RX_SIZE)
			tty->drops++;
		else
			tty->rx[tty->rx_head++ % TTY_RX_SIZE] = data[i];
	}
	throttle_change(tty);
	spin_unlock_irqrestore(&tty->lock, flags);
	raise_softirq(TTY_SOFTIRQ);
}

bool n_tty_readable(struct tty_struct *tty)
{
	if (L_FLAG(tty, ICANON))
		return tty->canon != tty->tail;
	/* With VTIME 0, poll and read wait for VMIN bytes. */
	if (!tty->termios.c_cc[VTIME] && tty->termios.c_cc[VMIN])
		return tty->head - tty->tail >= min_t(u32, tty->termios.c_cc[VMIN], TTY_BUF_SIZE / 2);
	return tty->head != tty->tail;
}

unsigned n_tty_available(struct tty_struct *tty)
{
	return (L_FLAG(tty, ICANON) ? tty->canon : tty->head) - tty->tail;
}

/* The zero byte that stands for an end of the file ends a line, too, and is no byte that a read returns. */
unsigned n_tty_input_bytes(struct tty_struct *tty)
{
	unsigned n = n_tty_available(tty);

	for (u32 i = tty->tail; L_FLAG(tty, ICANON) && i != tty->canon; i++)
		n -= test_bit(i % TTY_BUF_SIZE, tty->mark) && !buf_at(tty, i);
	return n;
}

/*
 * The mode may change while bytes wait. To canonical: what is there counts as a whole line. To raw: the zero byte that
 * marks an unread end of the file becomes data, as on Linux.
 */
void n_tty_set_termios(struct tty_struct *tty, const struct termios *t)
{
	u32 old = tty->termios.c_lflag;

	tty->termios = *t;
	if (!((old ^ t->c_lflag) & ICANON))
		return;
	if (t->c_lflag & ICANON) {
		for (u32 i = tty->tail; i != tty->head; i++)
			clear_bit(i % TTY_BUF_SIZE, tty->mark);
		if (tty->head != tty->tail)
			set_bit((tty->head - 1) % TTY_BUF_SIZE, tty->mark);
	}
	tty->canon = tty->head;
	tty->lnext = false;
}
