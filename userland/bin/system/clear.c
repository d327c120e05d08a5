/*
 * clear: an empty screen, by ECMA-48's sequences for "cursor home" and "erase all".
 *
 * Left out: asking a terminal database.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "clear", .options = "", .bad_status = 1};

	vt_operands(&o, argc, argv, 0, argc);
	printf("\033[H\033[2J");
	return vt_finish(0);
}
