/* idlethreads: a process with three threads besides its first one, all of which sleep: for walks over tasks. */
#include <thread.h>
#include <unistd.h>

static void idle(void *unused)
{
	for (;;)
		pause();
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		thread_start_in_group(idle, NULL);
	idle(NULL);
}
