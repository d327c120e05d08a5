/*
 * yes [WORD...]: print the same line for ever.
 *
 * It ends when nobody reads any more.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "yes [WORD...]", .options = "", .in_order = true, .bad_status = 1};
	char block[4096];
	size_t n = 0, line;

	vt_operands(&o, argc, argv, 0, argc);
	if (o.index >= argc)
		argv[--o.index] = "y";
	/* The words are joined once, not for every line. */
	for (int i = o.index; i < argc; i++) {
		if (n + strlen(argv[i]) + 2 > sizeof(block))
			vt_die(1, "line too long");
		n = (size_t)(stpcpy(block + n, argv[i]) - block);
		block[n++] = i == argc - 1 ? '\n' : ' ';
	}
	/* As many whole lines as fit go out in one write. */
	for (line = n; n + line <= sizeof(block); n += line)
		memcpy(block + n, block, line);
	while (vt_write_all(STDOUT_FILENO, block, n) == 0)
		;
	vt_die_errno(1, "write error");
}
