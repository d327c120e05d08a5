/*
 * poweroff [-f], also as halt: end the system.
 *
 * The machine stops at once: no process is asked to end, and files in memory are gone.
 */
#include <vt.h>
#include <sys/reboot.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "poweroff [-f]", .options = "f", .bad_status = 1};

	/* -f: there is no service manager to go round. */
	vt_operands(&o, argc, argv, 0, argc);
	sync();
	reboot(RB_POWER_OFF);
	vt_die_errno(1, "reboot");
}
