/* pollfile FILE MS: 1 when poll says within that time that FILE (-: standard input) can be read, else 0. */
#include <vt.h>
#include <numbers.h>
#include <poll.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct pollfd file = {.events = 1};
	struct timespec patience;
	long n, ms;

	if (argc != 3)
		vt_die(2, "usage: pollfile FILE MS");
	file.fd = strcmp(argv[1], "-") ? open(argv[1], O_RDONLY) : 0;
	if (file.fd < 0)
		vt_die_errno(2, argv[1]);
	ms = atol(argv[2]);
	patience = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	n = vt_syscall(SYS_ppoll, (long)&file, 1, (long)&patience, 0, 0, 0);
	if (n < 0)
		vt_die(2, "ppoll: %s", strerror((int)-n));
	printf("%d\n", n && (file.revents & file.events));
	return vt_finish(0);
}
