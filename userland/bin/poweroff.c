/*
 * poweroff [-f], also as halt: end the system.
 *
 * Nothing is asked or warned: unsaved is what sync() does not reach.
 */
#include <vt.h>
#include <sys/reboot.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "poweroff [-f]", .options = "f", .bad_status = 1};

	/* -f: there is no service manager to go round. */
	while (vt_option(&o, argc, argv) != -1)
		;
	sync();
	reboot(RB_POWER_OFF);
	vt_die_errno(1, "reboot");
}
