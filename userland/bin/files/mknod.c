/*
 * mknod [-m MODE] NAME c|b|u MAJOR MINOR, mknod [-m MODE] NAME p: make the node of a device, or a fifo.
 *
 * MODE is as chmod has it: octal, or such as g-w, which changes 666. A driver is found by MAJOR and MINOR when the node
 * is opened, not when it is made.
 */
#include <vt.h>
#include <limits.h>
#include <sys/stat.h>

/* The largest numbers that dev_t has room for here, as on Linux: 12 bits and 20 bits. */
#define MAX_MAJOR 4095
#define MAX_MINOR 0xfffff

/* As mknod(2) takes both: the low 8 bits of the minor, the major, the rest of the minor. */
static unsigned long device(unsigned long major, unsigned long minor)
{
	return (minor & 0xff) | major << 8 | (minor & ~0xfful) << 12;
}

static unsigned long number(const char *what, const char *text, unsigned long most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (*end || end == text || n > most)
		vt_die(1, "%s '%s' is no number from 0 to %lu", what, text, most);
	return n;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "mknod [-m MODE] NAME c|b|p [MAJOR MINOR]", .options = "m:", .bad_status = 1};
	mode_t mode = 0666, type;
	unsigned long dev = 0;
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (!vt_change_mode(o.arg, umask(0), &mode))
			vt_die(1, "invalid mode '%s'", o.arg);
	}
	if (argc - o.index < 2)
		vt_usage(&o);
	c = argv[o.index + 1][0];
	type = c == 'p' ? S_IFIFO : c == 'c' || c == 'u' ? S_IFCHR : c == 'b' ? S_IFBLK : 0;
	if (!type || argv[o.index + 1][1] || argc - o.index != (type == S_IFIFO ? 2 : 4))
		vt_usage(&o);
	if (type != S_IFIFO)
		dev = device(number("major", argv[o.index + 2], MAX_MAJOR),
			     number("minor", argv[o.index + 3], MAX_MINOR));
	if (mknod(argv[o.index], type | mode, dev) < 0)
		vt_die_errno(1, argv[o.index]);
	return 0;
}
