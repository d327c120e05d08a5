/* struct tty_struct and what the files of the terminal layer share. */
#pragma once

#include <drivers/tty.h>
#include <fs/vfs.h>
#include <kernel/printk.h>
#include <lib/atomic.h>
#include <lib/errno.h>
#include <lib/list.h>
#include <sched/mutex.h>
#include <sched/wait.h>
#include <uapi/fcntl.h>
#include <uapi/termios.h>

#define TTY_BUF_SIZE	 4096  /* bytes typed and not yet read; a line is at most one less */
#define TTY_RX_SIZE	 4096  /* bytes received and not yet looked at */
#define TTY_TX_SIZE	 16384 /* bytes to send */
#define TTY_ECHO_RESERVE 4096  /* of them kept free by writers, so that keys are echoed while output is pending */

/*
 * Way of a byte in: receive interrupt -> rx (tty_receive) -> softirq or reader: line discipline -> buf ->
 * read. Way out: write or echo -> output processing -> tx -> transmit interrupt (tty_tx_pull).
 *
 * Locks: l lock; o tx_lock (inside l and inside port_lock); r read_mutex; w write_mutex; I immutable. The
 * spinlocks are taken with interrupts off. The driver is called with none of them held, but for throttle (l).
 */
struct tty_struct {
	char name[16];		    /* [I] */
	unsigned index;		    /* [I] minor number */
	const struct uart_ops *ops; /* [I] */
	void *port;		    /* [I] */
	struct tty_struct *next;    /* [I] */
	spinlock_t lock, tx_lock, port_lock;
	struct mutex read_mutex, write_mutex;
	struct termios termios; /* [l] */
	struct termios locked;	/* [l] bits and keys of `termios` that cannot be changed (TIOCSLCKTRMIOS) */
	struct winsize winsize; /* [l] */
	pid_t pgrp, session;	/* [l] foreground group, session; 0: none */

	u32 rx_head, rx_tail;		       /* [l] */
	bool throttled;			       /* [l] the driver was told to stop */
	bool sysrq;			       /* [l] a break came: the next character is a key */
	char sysrq_key;			       /* [l] the key, until its handler runs */
	u32 head, canon, tail;		       /* [l] buf: typed up to head; whole lines up to canon; read up to tail */
	u32 line_column;		       /* [l] where on the screen the line in work began */
	bool lnext;			       /* [l] ^V: the next character is literal */
	u64 drops;			       /* [l] bytes that a full buffer cost */
	unsigned long mark[TTY_BUF_SIZE / 64]; /* [l] bits: this byte ends a line (a zero byte: end of file) */

	u32 tx_head, tx_tail; /* [o] */
	u32 column;	      /* [o] cursor, by what was put into tx */
	u32 sent_column;      /* [o] by what was sent: printk starts on a line of its own */
	bool stopped;	      /* [o] ^S */
	bool writers_wait;    /* [o] a task sleeps for room */
	bool hung_up;	      /* [l, read without] the other end is gone: a pseudo terminal without its master */
	bool con_open;	      /* [port_lock] printk is in the middle of a line */
	wait_queue_head_t read_wait, write_wait;
	struct console console;
	struct device_node *node; /* [I] */
	char rx[TTY_RX_SIZE];	  /* [l] */
	char buf[TTY_BUF_SIZE];	  /* [l] */
	char tx[TTY_TX_SIZE];	  /* [o] */
};

extern struct tty_struct *tty_list; /* only grows: by serial ports while it boots, then [pty_mutex] */

/* One of the mutexes of readers and writers. With O_NONBLOCK nothing is waited for. 0, -EAGAIN, -ERESTARTSYS. */
static inline int tty_lock_users(struct mutex *users, const struct file *f)
{
	if (f->f_flags & O_NONBLOCK)
		return mutex_trylock(users) ? 0 : -EAGAIN;
	return mutex_lock_interruptible(users) ? -ERESTARTSYS : 0;
}

/* tty_core.c. A terminal that nobody can find, and then one that its softirq finds. NULL: no memory. */
struct tty_struct *tty_alloc(const char *name, unsigned index, const struct uart_ops *ops, void *port);
void tty_publish(struct tty_struct *tty);
void tty_reset(struct tty_struct *tty); /* no file of it is open: as new */
/* Of a port's file. A terminal of another kind copies them, with an open of its own. */
extern const struct file_operations tty_fops;
/* The end of such an open. It may make the terminal the caller's controlling one. 0. */
int tty_open_common(struct tty_struct *tty, struct file *f);

#define L_FLAG(tty, f) ((tty)->termios.c_lflag & (f))
#define I_FLAG(tty, f) ((tty)->termios.c_iflag & (f))
#define O_FLAG(tty, f) ((tty)->termios.c_oflag & (f))

/* tty_output.c */
void tty_output_init(struct tty_struct *tty);
void tty_echo_char(struct tty_struct *tty, char c); /* [l] one byte, with output processing; lost when tx is full */
void tty_echo(struct tty_struct *tty, const char *text, unsigned n); /* [l] */
unsigned tty_echo_room(struct tty_struct *tty);			     /* bytes; each may become two */
unsigned tty_output(struct tty_struct *tty, const char *text,
		    unsigned n); /* what a program writes; returns bytes taken */
unsigned tty_output_pending(struct tty_struct *tty);
void tty_flush_output(struct tty_struct *tty);
void tty_set_stopped(struct tty_struct *tty, bool stop);
void tty_kick(struct tty_struct *tty);	   /* no lock held: the driver goes on sending */
int tty_wait_sent(struct tty_struct *tty); /* until all is with the hardware; -ERESTARTSYS */
void tty_console_init(struct tty_struct *tty);

/* n_tty.c */
void n_tty_process(struct tty_struct *tty);	/* no lock held: what was received goes through the discipline */
void n_tty_flush_input(struct tty_struct *tty); /* [l] */
void n_tty_set_termios(struct tty_struct *tty, const struct termios *t); /* [l] */
bool n_tty_readable(struct tty_struct *tty);				 /* [l] a read would not wait */
unsigned n_tty_available(struct tty_struct *tty);			 /* [l] 0: not even a part of a read is there */
unsigned n_tty_input_bytes(struct tty_struct *tty);			 /* [l] FIONREAD */

/* n_tty_read.c */
ssize_t n_tty_read(struct tty_struct *tty, struct file *f, char __user *buf, size_t n);

/* tty_jobctrl.c */
int tty_check_change(struct tty_struct *tty, int sig); /* background process? signal it: 0 go on, -EIO, -ERESTARTSYS */
void tty_open_ctty(struct tty_struct *tty, struct file *f);
long tty_jobctrl_ioctl(struct tty_struct *tty, unsigned cmd, unsigned long arg);
struct tty_struct *get_current_tty(void);
void tty_hangup(struct tty_struct *tty); /* the other end is gone. Thread context, no lock held */

/* tty_ioctl.c */
long tty_ioctl(struct file *f, unsigned cmd, unsigned long arg);
long tty_do_ioctl(struct tty_struct *tty, unsigned cmd, unsigned long arg);
/*
 * tty_termios.c. The requests about modes; *known: is `cmd` one of them? drain: those that wait for the output to go do
 * so; a master does not wait, as its reader may be the caller. 0 or -errno. Thread context.
 */
long tty_mode_ioctl(struct tty_struct *tty, unsigned cmd, unsigned long arg, bool drain, bool *known);
extern const struct termios tty_std_termios;
