/*
 * echo [-neE] [WORD...]: print its arguments.
 *
 * The shell has the same built in.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	return vt_echo(argc, argv);
}
