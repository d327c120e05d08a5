/*
 * uname [-asnrvm]: the system's names.
 *
 * Left out: -p, -i, -o.
 */
#include <vt.h>
#include <sys/utsname.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "uname [-asnrvm]", .options = "asnrvm", .bad_status = 1};
	static const char letters[] = "snrvm";
	const char *between = "";
	struct utsname u;
	const char *fields[] = {u.sysname, u.nodename, u.release, u.version, u.machine};
	bool shown[5] = {false};
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
			shown[i] |= c == 'a' || c == letters[i];
	}
	if (o.index < argc)
		vt_usage(&o);
	/* -s is what is shown without options. */
	if (argc == 1)
		shown[0] = true;
	if (uname(&u) < 0)
		vt_die_errno(1, "uname");
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		if (!shown[i])
			continue;
		printf("%s%s", between, fields[i]);
		between = " ";
	}
	printf("\n");
	return vt_finish(0);
}
