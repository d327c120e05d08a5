/* printf: print by a format. */
#include <vt.h>

int main(int argc, char **argv)
{
	return vt_printf(argc, argv);
}
