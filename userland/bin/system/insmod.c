/*
 * insmod FILE [NAME=VALUE]...: load a module into the kernel.
 *
 * The words behind the file are its parameters. A value with a blank in it is put in quotes here, since the kernel
 * splits the text at blanks. The errno of the kernel says little, and the kernel log all: so that is where the message
 * sends the user.
 */
#include <vt.h>
#include <vt_module.h>
#include <fcntl.h>
#include <string.h>
#include <sys/module.h>

/* What the errno of finit_module means. */
static const char *reason(void)
{
	switch (errno) {
	case EEXIST:
		return "a module of this name is loaded already (lsmod, rmmod)";
	case EBUSY:
		return "a module of this name is going, or its init has just failed; try again";
	case ENOENT:
		return "it asks for a symbol that is not there; dmesg names it";
	case ENOEXEC:
		return "Invalid module format; dmesg says what is wrong";
	case EINVAL:
		return "Invalid argument; dmesg says what is wrong";
	}
	return vt_module_error();
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "insmod FILE [NAME=VALUE]...", .options = "", .bad_status = 1};
	char *params;
	int fd;

	vt_operands(&o, argc, argv, 1, argc);
	fd = open(argv[o.index], O_RDONLY);
	if (fd < 0)
		vt_die_errno(1, argv[o.index]);
	params = vt_module_params(argv + o.index + 1, argc - o.index - 1);
	if (params && finit_module(fd, params, 0) == 0)
		return 0;
	vt_warn("could not insert %s: %s", argv[o.index], reason());
	return 1;
}
