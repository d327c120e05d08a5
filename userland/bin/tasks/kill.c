/*
 * kill [-SIGNAL | -s SIGNAL] PID... | kill -l [SIGNAL...]: send a signal to processes.
 *
 * The shell has the same built in, for %JOB.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	return vt_finish(vt_kill(argc, argv));
}
