/*
 * printf FORMAT [ARG...]: print by a format.
 *
 * The shell has the same built in; what it knows is said in lib/text/printf.c.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	return vt_printf(argc, argv);
}
