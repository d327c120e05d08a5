/* Terminal modes and ioctls, with Linux's numbers (asm-generic: the same on both machines). */
#pragma once

#include <uapi/types.h>

#define NCCS 19
struct termios {
	__u32 c_iflag, c_oflag, c_cflag, c_lflag;
	__u8 c_line;
	__u8 c_cc[NCCS];
};
_Static_assert(sizeof(struct termios) == 36);
/* The structure of System V, for TCGETA and its like: the lower halves of the flags, and fewer keys. */
#define NCC 8
struct termio {
	__u16 c_iflag, c_oflag, c_cflag, c_lflag;
	__u8 c_line;
	__u8 c_cc[NCC];
};
_Static_assert(sizeof(struct termio) == 18);
struct winsize {
	__u16 ws_row, ws_col, ws_xpixel, ws_ypixel;
};

/* c_cc */
#define VINTR		0
#define VQUIT		1
#define VERASE		2
#define VKILL		3
#define VEOF		4
#define VTIME		5
#define VMIN		6
#define VSWTC		7
#define VSTART		8
#define VSTOP		9
#define VSUSP		10
#define VEOL		11
#define VREPRINT	12
#define VDISCARD	13
#define VWERASE		14
#define VLNEXT		15
#define VEOL2		16
#define _POSIX_VDISABLE 0

/* c_iflag */
#define IGNBRK	0000001
#define BRKINT	0000002
#define IGNPAR	0000004
#define PARMRK	0000010
#define INPCK	0000020
#define ISTRIP	0000040
#define INLCR	0000100
#define IGNCR	0000200
#define ICRNL	0000400
#define IUCLC	0001000
#define IXON	0002000
#define IXANY	0004000
#define IXOFF	0010000
#define IMAXBEL 0020000
#define IUTF8	0040000
/* c_oflag */
#define OPOST  0000001
#define OLCUC  0000002
#define ONLCR  0000004
#define OCRNL  0000010
#define ONOCR  0000020
#define ONLRET 0000040
#define TABDLY 0014000
#define XTABS  0014000
/* c_cflag */
#define CS8	0000060
#define CREAD	0000200
#define CLOCAL	0004000
#define CBAUD	0010017
#define CSIZE	0000060
#define CSTOPB	0000100
#define PARENB	0000400
#define PARODD	0001000
#define HUPCL	0002000
#define CRTSCTS 020000000000
#define B115200 0010002
/* c_lflag */
#define ISIG	0000001
#define ICANON	0000002
#define ECHO	0000010
#define ECHOE	0000020
#define ECHOK	0000040
#define ECHONL	0000100
#define NOFLSH	0000200
#define TOSTOP	0000400
#define ECHOCTL 0001000
#define ECHOPRT 0002000
#define ECHOKE	0004000
#define IEXTEN	0100000

#define TCGETS	   0x5401
#define TCSETS	   0x5402
#define TCSETSW	   0x5403
#define TCSETSF	   0x5404
#define TCGETA	   0x5405
#define TCSETA	   0x5406
#define TCSETAW	   0x5407
#define TCSETAF	   0x5408
#define TCSBRK	   0x5409
#define TCXONC	   0x540A
#define TCFLSH	   0x540B
#define TIOCEXCL   0x540C
#define TIOCNXCL   0x540D
#define TIOCSCTTY  0x540E
#define TIOCGPGRP  0x540F
#define TIOCSPGRP  0x5410
#define TIOCOUTQ   0x5411
#define SIOCOUTQ   TIOCOUTQ
#define TIOCSTI	   0x5412
#define TIOCGWINSZ 0x5413
#define TIOCSWINSZ 0x5414
#define FIONREAD   0x541B
#define TIOCINQ	   FIONREAD
#define SIOCINQ	   FIONREAD
#define FIONBIO	   0x5421
#define FIOASYNC   0x5452
/* Of sockets: F_SETOWN and F_GETOWN. */
#define FIOSETOWN 0x8901
#define SIOCSPGRP 0x8902
#define FIOGETOWN 0x8903
#define SIOCGPGRP 0x8904
#define TIOCNOTTY 0x5422
#define TCSBRKP	  0x5425
#define TIOCGSID  0x5429
/* Of a pseudo terminal's master: its number, and whether the other end can be opened. */
#define TIOCGPTN   0x80045430
#define TIOCSPTLCK 0x40045431
#define TIOCGPTLCK 0x80045439
#define FIONCLEX   0x5450
#define FIOCLEX	   0x5451
/* Which modes cannot be changed: a set bit locks that bit, a key that is not 0 that key. */
#define TIOCGLCKTRMIOS 0x5456
#define TIOCSLCKTRMIOS 0x5457

#define TCIFLUSH  0
#define TCOFLUSH  1
#define TCIOFLUSH 2
#define TCOOFF	  0
#define TCOON	  1
#define TCIOFF	  2
#define TCION	  3
