/*
 * chroot DIRECTORY [COMMAND [ARG...]]: run a command with this directory for its root, and for its working directory;
 * without one the shell that $SHELL names, or /bin/sh, as it is there.
 *
 * Left out: --userspec, --groups and --skip-chdir.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {
		.usage = "chroot DIRECTORY [COMMAND [ARG...]]", .options = "", .in_order = true, .bad_status = 125};
	const char *named = getenv("SHELL");
	char *shell[] = {vt_strdup(named && *named ? named : "/bin/sh"), NULL};

	vt_operands(&o, argc, argv, 1, argc);
	if (chroot(argv[o.index]) < 0)
		vt_die_errno(125, argv[o.index]);
	if (chdir("/") < 0)
		vt_die_errno(125, "/");
	vt_exec(o.index + 1 < argc ? argv + o.index + 1 : shell);
}
