/*
 * id [-u | -g]: who runs this.
 *
 * Left out: names but root's (/etc/passwd is not looked at), groups, effective ids: none differ here.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "id [-u | -g]", .options = "ug", .bad_status = 1};
	unsigned int uid = getuid(), gid = getgid();
	int c, which = 0;

	while ((c = vt_option(&o, argc, argv)) != -1)
		which = c;
	if (which)
		printf("%u\n", which == 'u' ? uid : gid);
	else
		printf("uid=%u%s gid=%u%s\n", uid, uid ? "" : "(root)", gid, gid ? "" : "(root)");
	return vt_finish(0);
}
