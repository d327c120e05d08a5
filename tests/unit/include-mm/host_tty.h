/*
 * The line discipline as it is, with the terminal's other end: a driver whose output is kept, and keys that a script
 * types while the one task sleeps in a read.
 */
#pragma once

#include <host_test.h>

#define vsnprintf k_vsnprintf
#define snprintf  k_snprintf
#define sprintf	  k_sprintf
#include <host_kernel.h>
#include <host_wait.h>

#include "../../../kernel/lib/vsprintf.c"
#include "../../../kernel/lib/put_dec.c"
#include "../../../kernel/lib/vsprintf_pointer.c"
#include "../../../kernel/lib/bitmap.c"
#include "../../../kernel/lib/bitmap_text.c"
#include "../../../drivers/tty/n_tty.c"
#include "../../../drivers/tty/n_tty_read.c"
#include "../../../drivers/tty/tty_output.c"

#define GROUP 77

int oops_in_progress;
void console_register(struct console *con)
{
}
void raise_softirq(int nr)
{
}
static char handled_key;
static void read_key(char key)
{
	handled_key = key;
}
static const struct sysrq_reader key_reader = {.read = read_key};
REGISTER_SYSRQ_READER(key_reader);
int tty_check_change(struct tty_struct *tty, int sig)
{
	return 0;
}
bool mutex_trylock(struct mutex *m)
{
	mutex_lock(m);
	return true;
}
int mutex_lock_interruptible(struct mutex *m)
{
	mutex_lock(m);
	return 0;
}

/* The reader is in the group, so that a signal ends its sleep. */
static int signals[8], nr_signals;
int kill_pgrp(pid_t pgrp, int sig)
{
	assert_int_equal(pgrp, GROUP);
	assert_true(nr_signals < 8);
	signals[nr_signals++] = sig;
	set_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	return 0;
}

/* ---- The terminal's other end. */
static struct tty_struct tty;
static char shown[65536];
static unsigned nr_shown;
static bool line_full; /* the driver sends nothing */

static void start_tx(void *port)
{
	bool wake = false;

	if (!line_full)
		nr_shown += tty_tx_pull(&tty, shown + nr_shown, sizeof(shown) - 1 - nr_shown, &wake);
	if (wake)
		tty_tx_pulled(&tty);
	shown[nr_shown] = '\0';
}

static bool held_up;
static unsigned nr_throttles;
static void throttle(void *port, bool on)
{
	assert_true(on != held_up);
	held_up = on;
	nr_throttles++;
}

static void poll_put(void *port, char c)
{
	shown[nr_shown++] = c;
	shown[nr_shown] = '\0';
}

static const struct uart_ops ops = {.start_tx = start_tx, .poll_put = poll_put, .throttle = throttle};

static void set_flags(u32 lflag, unsigned vmin, unsigned vtime)
{
	struct termios t = tty.termios;

	t.c_lflag = lflag;
	t.c_cc[VMIN] = vmin;
	t.c_cc[VTIME] = vtime;
	n_tty_set_termios(&tty, &t);
}
#define COOKED (ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN)

/* A terminal as it is opened, in cooked mode, with nothing shown, and a task that no signal waits for. */
static int fresh(void **state)
{
	memset(&tty, 0, sizeof(tty));
	tty.ops = &ops;
	tty.pgrp = GROUP;
	tty.termios = (struct termios){.c_iflag = ICRNL | IXON | IMAXBEL, .c_oflag = OPOST | ONLCR, .c_lflag = COOKED};
	memcpy(tty.termios.c_cc,
	       (u8[NCCS]){[VINTR] = 3,
			  [VQUIT] = 28,
			  [VERASE] = 127,
			  [VKILL] = 21,
			  [VEOF] = 4,
			  [VMIN] = 1,
			  [VSTART] = 17,
			  [VSTOP] = 19,
			  [VSUSP] = 26,
			  [VREPRINT] = 18,
			  [VWERASE] = 23,
			  [VLNEXT] = 22},
	       NCCS);
	tty_output_init(&tty);
	spin_lock_init(&tty.lock);
	mutex_init(&tty.read_mutex);
	init_waitqueue_head(&tty.read_wait);
	nr_shown = nr_signals = host_sleeps = nr_throttles = 0;
	shown[0] = '\0';
	held_up = line_full = false;
	host_asleep = NULL;
	host_task.state = TASK_RUNNING;
	clear_tsk_thread_flag(&host_task, TIF_SIGPENDING);
	return 0;
}

static void type_bytes(const char *text, unsigned n)
{
	tty_receive(&tty, text, n);
	n_tty_process(&tty);
}

static void type(const char *text)
{
	type_bytes(text, strlen(text));
}

/* The script's pieces, one after the other. '\xff' as a piece's first byte: 50 ms pass. */
static const char *const *script;
static bool type_next(void)
{
	const char *text = *script;

	if (!text)
		return false;
	script++;
	if (*text == '\xff') {
		host_now += 50 * NSEC_PER_MSEC;
		text++;
	}
	type(text);
	return true;
}
#define TYPE_WHILE_ASLEEP(...) (script = (const char *const[]){__VA_ARGS__, NULL}, host_asleep = type_next)

static char got[8192];
static struct file blocking, not_blocking = {.f_flags = O_NONBLOCK};

static ssize_t read_n(struct file *f, size_t n)
{
	ssize_t res;

	memset(got, '?', sizeof(got));
	res = n_tty_read(&tty, f, got, n);
	got[res > 0 ? res : 0] = '\0';
	return res;
}

/* A read of up to n bytes gets this. */
#define EXPECT_READ(n, text) (assert_int_equal(read_n(&blocking, n), strlen(text)), assert_string_equal(got, text))
#define EXPECT_SHOWN(text)   (assert_string_equal(shown, text), nr_shown = 0, shown[0] = '\0')
