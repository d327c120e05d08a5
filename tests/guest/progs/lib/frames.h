/* Signal frames: where in a ucontext the machines have what tests look at (Linux's asm/ucontext.h and
 * asm/sigcontext.h). */
#ifndef FRAMES_H
#define FRAMES_H

#include <vt.h>
#include <signal.h>

/* As sigaltstack() takes it, and in the ucontext at 16 on both machines. */
struct alt_stack {
	char *sp;
	unsigned flags, pad;
	unsigned long size;
};
#define FRAME_STACK 16

/* Offsets of words. FRAME_RESULT: of a system call's result. FRAME_VECTOR: of the first vector register's lower half,
 * from what frame_vectors() gives. */
#ifdef __aarch64__
#define FRAME_MASK   40
#define FRAME_RESULT 184
#define FRAME_SP     432
#define FRAME_PC     440
#define FRAME_SIZE   (176 + 288 + 528 + 16)
#define FRAME_VECTOR 16

static inline char *frame_vectors(char *uc)
{
	return uc + 464; /* the first record of the extension area */
}
/* Does the record say what it is? */
static inline bool frame_vectors_marked(const char *vectors)
{
	return *(const unsigned *)vectors == 0x46508001 && *(const unsigned *)(vectors + 4) == 528;
}
#else
#define FRAME_MASK   296
#define FRAME_RESULT 144
#define FRAME_SP     160
#define FRAME_PC     168
#define FRAME_SIZE   304
#define FRAME_VECTOR 160
#define FRAME_MXCSR  24
#define RED_ZONE     128

static inline char *frame_vectors(char *uc)
{
	return *(char **)(uc + 224);
}
/* With XSAVE (uc_flags bit 0) the marks before and behind; always the alignment. */
static inline bool frame_vectors_marked(const char *vectors)
{
	const unsigned *words = (const unsigned *)(vectors + 464);

	if ((unsigned long)vectors % 64)
		return false;
	return words[0] != 0x46505853 ||
	       (words[1] == words[4] + 4 && *(const unsigned *)(vectors + words[4]) == 0x46505845);
}
#endif

static inline unsigned long *frame_word(char *uc, unsigned offset)
{
	return (unsigned long *)(uc + offset);
}

/* A handler with three arguments, with flags beside SA_SIGINFO. 0, or -1 with errno. */
typedef void (*frame_handler)(int sig, void *info, void *uc);
static inline int frame_handle(int sig, frame_handler handler, unsigned long flags)
{
	struct sigaction act = {.sa_handler = (sighandler_t)(void *)handler, .sa_flags = SA_SIGINFO | flags};

	return sigaction(sig, &act, NULL);
}

#endif
