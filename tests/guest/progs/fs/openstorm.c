/*
 * openstorm FILE STOP: open, read to the end, close, again and again until the file STOP exists. Prints how that went:
 * "opened N gone N busy N eio N". Any other error ends it with status 1.
 */
#include <vt.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static long opened, gone, busy, eio;

static void read_all(int fd, const char *name)
{
	char text[64];
	ssize_t n;

	while ((n = read(fd, text, sizeof(text))) > 0)
		;
	if (n && errno == EIO)
		eio++;
	else if (n && errno != EINVAL) /* a device that cannot be read */
		vt_die_errno(1, name);
}

static void open_once(const char *name)
{
	int fd = open(name, O_RDONLY);

	if (fd >= 0) {
		opened++;
		read_all(fd, name);
		close(fd);
	} else if (errno == ENOENT || errno == ENXIO || errno == ENODEV) {
		gone++;
	} else if (errno == EBUSY) {
		busy++;
	} else {
		vt_die_errno(1, name);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		vt_die(2, "usage: openstorm FILE STOP");
	while (access(argv[2], F_OK))
		for (int i = 0; i < 32; i++)
			open_once(argv[1]);
	printf("opened %ld gone %ld busy %ld eio %ld\n", opened, gone, busy, eio);
	return vt_finish(0);
}
