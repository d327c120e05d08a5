/* Waiting for children. */
#ifndef VT_SYS_WAIT_H
#define VT_SYS_WAIT_H

#include <sys/types.h>
#include <uapi/wait.h>

struct rusage;

/* A status: low 7 bits the signal that ended it (0: exit, 0x7f: stopped), next byte the exit code or the
 * stopping signal. */
#define WIFEXITED(s)	(((s)&0x7f) == 0)
#define WEXITSTATUS(s)	(((s) >> 8) & 0xff)
#define WIFSIGNALED(s)	(((s)&0x7f) != 0 && ((s)&0x7f) != 0x7f)
#define WTERMSIG(s)	((s)&0x7f)
#define WCOREDUMP(s)	((s)&0x80)
#define WIFSTOPPED(s)	(((s)&0xff) == 0x7f)
#define WSTOPSIG(s)	WEXITSTATUS(s)
#define WIFCONTINUED(s) ((s) == 0xffff)

/* Return the child's id, 0 with WNOHANG when none has changed, or -1 with errno. ru may be NULL. */
pid_t wait(int *status);
pid_t waitpid(pid_t pid, int *status, int options);
pid_t wait4(pid_t pid, int *status, int options, struct rusage *ru);

#endif
