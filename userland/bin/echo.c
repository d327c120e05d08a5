/* echo: print its arguments. */
#include <vt.h>

int main(int argc, char **argv)
{
	return vt_echo(argc, argv);
}
