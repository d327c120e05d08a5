/*
 * test EXPRESSION | [ EXPRESSION ]: look at files, strings and numbers.
 *
 * The shell has the same built in; what it knows is in lib/text/test.c.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		printf("Usage: test EXPRESSION | [ EXPRESSION ]\n");
		return vt_finish(0);
	}
	return vt_test(argc, argv);
}
