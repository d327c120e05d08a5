/*
 * winch [TENTHS]: says "ready", waits so many tenths of a second (5) for being told that the terminal has
 * another size, and then says how often it was told and what the size is.
 */
#include <vt.h>
#include <vt_term.h>
#include <signal.h>
#include <time.h>

static volatile sig_atomic_t told;

static void on_winch(int sig)
{
	told++;
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = on_winch};
	struct timespec tenth = {.tv_nsec = 100000000};
	long tenths = argc > 1 ? vt_number_or_die(2, argv[1], 1, 1000) : 5;
	struct winsize size;

	if (sigaction(SIGWINCH, &act, NULL) < 0)
		vt_die_errno(1, "sigaction");
	printf("ready\n");
	fflush(stdout);
	for (long i = 0; i < tenths && !told; i++)
		nanosleep(&tenth, NULL);
	nanosleep(&tenth, NULL); /* a second signal would come by then */
	size = vt_terminal_size(STDERR_FILENO);
	printf("told %d times: %d %d\n", (int)told, size.ws_row, size.ws_col);
	return vt_finish(0);
}
