/*
 * irqhog [-l|-p|-q] USEC: keep interrupts off for USEC microseconds (1 to 1000000) on the CPU that
 * runs it: something for the tracers irqsoff and preemptirqsoff to find.
 *
 * -l takes a spinlock for it, as drivers do. -p and -q overlap with preemption off: -p turns it off
 * after a third of the time and interrupts on after two, -q begins with preemption. It takes root,
 * and debugfs mounted at /sys/kernel/debug.
 */
#include <vt.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "irqhog [-l|-p|-q] USEC", .options = "lpq", .bad_status = 1};
	const char *kind = "irqs_off";
	int c;

	while ((c = vt_option(&o, argc, argv)) != -1)
		kind = c == 'l' ? "spin_lock_irqsave" : c == 'p' ? "irqs_preempt_off" : "preempt_irqs_off";
	return vt_plant(&o, argv, kind);
}
