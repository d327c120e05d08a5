/*
 * devioctl FILE COMMAND raw NUMBER: ioctl(2) with this argument; prints what it returns.
 * devioctl FILE COMMAND u32 NUMBER: with the address of this number; prints the number afterwards, too.
 * devioctl FILE COMMAND text TEXT: the same with a buffer of 128 bytes that holds the text.
 */
#include <vt.h>
#include <errno.h>
#include <fcntl.h>
#include <numbers.h>
#include <stdlib.h>
#include <sys/ioctl.h>

int main(int argc, char **argv)
{
	char text[128] = "";
	unsigned number, command;
	int fd, ret;

	if (argc != 5)
		vt_die(2, "usage: devioctl FILE COMMAND raw|u32|text ARGUMENT");
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		vt_die_errno(2, argv[1]);
	command = strtoul(argv[2], NULL, 0);
	number = strtoul(argv[4], NULL, 0);
	strncpy(text, argv[4], sizeof(text) - 1);
	if (!strcmp(argv[3], "raw"))
		ret = ioctl(fd, command, (unsigned long)number);
	else
		ret = ioctl(fd, command, !strcmp(argv[3], "u32") ? (void *)&number : (void *)text);
	if (ret < 0)
		printf("%s\n", strerror(errno));
	else if (!strcmp(argv[3], "raw"))
		printf("%d\n", ret);
	else if (!strcmp(argv[3], "u32"))
		printf("%d %u\n", ret, number);
	else
		printf("%d %s\n", ret, text);
	return vt_finish(0);
}
