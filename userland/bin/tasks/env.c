/*
 * env [-i] [-u NAME] [NAME=VALUE...] [COMMAND [ARG...]]: run a command in a changed environment, or
 * show it.
 *
 * Left out: -0, -C, -S. With -i the command is still searched in $PATH if NAME=VALUE sets one, else
 * in /bin and /sbin.
 */
#include <vt.h>

extern char **environ;

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "env [-i] [-u NAME] [NAME=VALUE...] [COMMAND [ARG...]]",
			       .options = "iu:",
			       .in_order = true,
			       .bad_status = 125};
	/* setenv() makes a copy of the list before it adds to it. */
	static char *empty[] = {NULL};
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'i')
			environ = empty;
		else if (unsetenv(o.arg) < 0)
			vt_die_errno(125, o.arg);
	}
	for (; o.index < argc && strchr(argv[o.index], '='); o.index++) {
		char *value = strchr(argv[o.index], '=');

		*value++ = '\0';
		if (setenv(argv[o.index], value, 1) < 0)
			vt_die_errno(125, argv[o.index]);
	}
	if (o.index < argc)
		vt_exec(argv + o.index);
	for (char **entry = environ; *entry; entry++)
		printf("%s\n", *entry);
	return vt_finish(0);
}
