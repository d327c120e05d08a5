/*
 * Programs that run other programs: fork, exec, wait.
 *
 * The child is a copy of this process, which then becomes the other program. Only what is between
 * fork() and exec can prepare it: descriptors, groups, signals. The parent must wait, or the child
 * stays a zombie until the parent ends.
 */
#include <vt.h>
#include <sys/wait.h>

/* The two statuses are the shell's: a caller can tell "no such command" from "cannot be run". */
void vt_exec(char *const argv[])
{
	execvp(argv[0], argv);
	vt_die_errno(errno == ENOENT ? 127 : 126, argv[0]);
}

/* waitpid() is begun again after EINTR: a signal that this program handles does not end its child. */
int vt_run(char *const argv[], int *status)
{
	pid_t pid, ended;

	/* What we have printed stands before what the program prints, and the child has no copy of it to write. */
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		vt_exec(argv);
	if (pid < 0)
		return -1;
	do
		ended = waitpid(pid, status, 0);
	while (ended < 0 && errno == EINTR);
	return ended < 0 ? -1 : 0;
}
