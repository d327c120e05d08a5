/*
 * irqhog [-l|-p|-q] USEC: keep interrupts off for USEC microseconds (1 to 1000000) on the CPU that
 * runs it: something for the tracers irqsoff and preemptirqsoff to find.
 *
 * -l takes a spinlock for it, as drivers do. -p and -q overlap with preemption off: -p turns it off
 * after a third of the time and interrupts on after two, -q begins with preemption. It takes root,
 * and debugfs mounted at /sys/kernel/debug.
 */
#include <vt.h>

static const char help[] = "  without an option: interrupts off\n"
			   "  -l    interrupts off and a spinlock held (spin_lock_irqsave)\n"
			   "  -p    interrupts off, preemption off after a third of the time, interrupts on after two\n"
			   "  -q    preemption off, interrupts off after a third of the time, preemption on after two\n"
			   "  USEC  how long, in microseconds (1 to 1000000)\n";

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "irqhog [-l|-p|-q] USEC", .options = "lpq", .help = help, .bad_status = 1};
	int c, mode = 0;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (mode && mode != c)
			vt_die(1, "one of -l, -p and -q at a time");
		mode = c;
	}
	return vt_plant(&o, argv,
			mode == 'l'   ? "spin_lock_irqsave"
			: mode == 'p' ? "irqs_preempt_off"
			: mode == 'q' ? "preempt_irqs_off"
				      : "irqs_off");
}
