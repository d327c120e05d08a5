/* test and [: look at files, strings and numbers. */
#include <vt.h>

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--help")) {
		printf("Usage: test EXPRESSION | [ EXPRESSION ]\n");
		return vt_finish(0);
	}
	return vt_test(argc, argv);
}
