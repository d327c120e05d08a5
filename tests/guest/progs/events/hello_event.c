/*
 * hello_event [N]: an event of a program's own, the sample of docs/user-events.md. It registers the event hello,
 * and makes up to N records (10), one each time it finds the event on, while it waits for its standard input to end:
 *
 *	hello_event 3 < pipe &
 *	echo 1 > /sys/kernel/tracing/events/user_events/hello/enable
 *
 * The word `enabled` is the kernel's to write: a program that nobody watches pays a load and a branch for an event.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <uapi/user_events.h> /* on Linux: <linux/user_events.h> */
#include <unistd.h>

static unsigned enabled; /* bit 0: somebody records the event */

/* A record: which event of this open file, then the fields one behind the other. */
struct hello {
	__u32 write_index;
	__u32 count;
	__u32 where; /* of the text: its length in the upper half, its offset from here in the lower one */
	char text[8];
} __attribute__((packed));

/* The open file, by which records are made; -1. */
static int register_hello(struct hello *record)
{
	struct user_reg reg = {
		.size = sizeof(reg),
		.enable_bit = 0,
		.enable_size = sizeof(enabled),
		.enable_addr = (unsigned long)&enabled,
		.name_args = (unsigned long)"hello u32 count; __rel_loc char[] text",
	};
	int fd = open("/sys/kernel/tracing/user_events_data", O_RDWR);

	if (fd < 0 || ioctl(fd, DIAG_IOCSREG, &reg)) {
		printf("user_events_data: %s\n", strerror(errno));
		return -1;
	}
	record->write_index = reg.write_index;
	return fd;
}

int main(int argc, char **argv)
{
	struct hello record = {.where = DYN_LOC(0, sizeof(record.text)), .text = "hello"};
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
	unsigned most = argc > 1 ? atoi(argv[1]) : 10;
	int fd = register_hello(&record);

	if (fd < 0)
		return 1;
	while (!poll(&in, 1, 10))
		if (*(volatile unsigned *)&enabled && record.count < most) {
			record.count++;
			if (write(fd, &record, sizeof(record)) < 0)
				printf("write: %s\n", strerror(errno));
		}
	return 0;
}
