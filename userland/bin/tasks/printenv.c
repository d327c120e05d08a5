/*
 * printenv [NAME...]: values of environment variables.
 *
 * Status 1 when one is not set. Left out: -0.
 */
#include <vt.h>

extern char **environ;

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "printenv [NAME...]", .options = "", .in_order = true, .bad_status = 2};
	int status = 0;

	vt_operands(&o, argc, argv, 0, argc);
	for (char **entry = environ; o.index >= argc && *entry; entry++)
		printf("%s\n", *entry);
	for (; o.index < argc; o.index++) {
		const char *value = getenv(argv[o.index]);

		if (value)
			printf("%s\n", value);
		else
			status = 1;
	}
	return vt_finish(status);
}
