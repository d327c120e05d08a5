/* Keys of a terminal, as the line editor takes them. */
#ifndef SH_KEYS_H
#define SH_KEYS_H

#include "../sh.h"

/* Bytes stand for themselves; what control sequences mean begins at 256. */
enum {
	CTRL_A = 1,
	CTRL_B,
	CTRL_C,
	CTRL_D,
	CTRL_E,
	CTRL_F,
	BELL = 7,
	CTRL_H,
	TAB,
	LINE_FEED,
	CTRL_K,
	CTRL_L,
	RETURN,
	CTRL_N,
	CTRL_P = 16,
	CTRL_R = 18,
	CTRL_U = 21,
	CTRL_W = 23,
	ESCAPE = 27,
	DELETE = 127,
	KEY_UP = 256,
	KEY_DOWN,
	KEY_RIGHT,
	KEY_LEFT,
	KEY_HOME,
	KEY_END,
	KEY_DELETE,
	KEY_PASTE, /* what follows was pasted: key_paste() */
	KEY_NONE
};

/* Have work called when the terminal has another size. It may be told between any two bytes of input. */
void key_begin(void (*resized)(void *arg), void *arg);
void key_end(void);
/* One byte. Returns -1 at the end of input, CTRL_C also where a ^C has come as a signal. */
int key_byte(void);
/* Behind ESCAPE: whether a control sequence comes soon; else it was Escape alone. */
bool key_follows(void);
/* The next key_byte() gives this byte once more. */
void key_unread(int byte);
/* Behind ESCAPE: the rest of a control sequence, and what it means. */
int key_sequence(void);
/*
 * Behind KEY_PASTE: the pasted text in new memory, its lines ended by newlines but for the last; other
 * control characters than TAB are left out. Returns NULL when a ^C has come instead of its end.
 */
char *key_paste(void);
/* Ask the terminal for its size, once, if nothing that was typed waits in front of the answer. Written before
 * a prompt. */
void key_ask_size(void);
/* Before and after a line is edited: the terminal marks what is pasted. Only one that has answered is told
 * so. */
void key_mark_pastes(bool on);

#endif
