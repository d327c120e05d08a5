/*
 * sudo [-E] [-n] [-s | -i | COMMAND [ARG...]]: run a command as root, or (-s, -i) a shell; -i: as at a login,
 * in root's home.
 *
 * There are no passwords here and no /etc/sudoers: whoever is root may, nobody else. NAME=VALUE before
 * COMMAND is for its environment.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "sudo [-En] [-s | -i | [NAME=VALUE...] COMMAND [ARG...]]",
			       .options = "Ensi",
			       .help = "  -s  a shell; -i  one that begins in root's home\n"
				       "  -E  keep the environment; -n  ask for nothing: both are so in any case\n",
			       .in_order = true,
			       .bad_status = 1};
	char *const shell[] = {"sh", NULL};
	bool wants_shell = false;
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		wants_shell |= c == 's' || c == 'i';
		if (c == 'i' && (setenv("HOME", "/root", 1) < 0 || chdir("/root") < 0))
			vt_die_errno(1, "/root");
	}
	if (geteuid() != 0)
		vt_die(1, "only root may: this is user %d", (int)getuid());
	for (; o.index < argc && strchr(argv[o.index], '='); o.index++)
		if (putenv(argv[o.index]) < 0)
			vt_die_errno(1, argv[o.index]);
	if (o.index == argc && !wants_shell)
		vt_usage(&o);
	vt_exec(o.index < argc ? argv + o.index : shell);
}
