/*
 * id [-u | -g] [-n]: who runs this, in numbers and names.
 *
 * Left out: further groups and effective ids.
 */
#include <vt.h>

/*
 * Print a number, with its name if it has one. vt_user_text() gives the number itself where there is
 * no name, and no name begins with a digit.
 */
static void print_id(const char *what, unsigned int id, const char *name)
{
	printf("%s=%u", what, id);
	if (*name < '0' || *name > '9')
		printf("(%s)", name);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "id [-u | -g] [-n]", .options = "ugn", .bad_status = 1};
	unsigned int uid = getuid(), gid = getgid();
	char user[VT_NAME_SIZE], group[VT_NAME_SIZE];
	bool names = false;
	int c, which = 0;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'n')
			names = true;
		else
			which = c;
	}
	if (o.index < argc) /* another user's are not looked for */
		vt_usage(&o);
	if (names && !which)
		vt_die(1, "-n goes with -u or -g");
	vt_user_text(uid, user);
	vt_group_text(gid, group);
	if (names) {
		printf("%s\n", which == 'u' ? user : group);
	} else if (which) {
		printf("%u\n", which == 'u' ? uid : gid);
	} else {
		print_id("uid", uid, user);
		print_id(" gid", gid, group);
		printf("\n");
	}
	return vt_finish(0);
}
