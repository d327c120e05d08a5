/*
 * preempthog USEC: keep preemption off for USEC microseconds (1 to 1000000) on the CPU that runs
 * it: something for the tracers preemptoff and preemptirqsoff to find.
 *
 * It takes root, and debugfs mounted at /sys/kernel/debug.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "preempthog USEC",
			       .options = "",
			       .help = "  USEC  how long, in microseconds (1 to 1000000)\n",
			       .bad_status = 1};

	vt_operands(&o, argc, argv, 0, argc);
	return vt_plant(&o, argv, "preempt_off");
}
