/* What crt0 does in the guest and the host's C library does not: the program's name for libvt's messages. */
#include <vt.h>

const char *vt_name = "?";

/* The host's C library hands constructors what main() gets. */
static __attribute__((constructor)) void set_name(int argc, char **argv, char **envp)
{
	if (argc > 0)
		vt_name = vt_basename(argv[0]);
}
