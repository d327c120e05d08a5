/* kill: send a signal to processes. */
#include <vt.h>

int main(int argc, char **argv)
{
	return vt_kill(argc, argv);
}
