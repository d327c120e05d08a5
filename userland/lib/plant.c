/*
 * Latencies on demand, through the kernel's debug files: the common part of irqhog and preempthog.
 *
 * A student of the latency tracers needs a delay of known length in a known function. Writing a number
 * of microseconds to /sys/kernel/debug/latency/KIND makes the kernel spin for so long with interrupts
 * (or preemption) off, and the tracer must find exactly that. The write returns when the time is over.
 */
#include <vt.h>

#define PLANT_DIR "/sys/kernel/debug/latency"

/*
 * The whole of irqhog and preempthog: one argument, microseconds, goes to the file `kind` of debugfs, whose write holds
 * interrupts or preemption off for that long. Returns the exit status.
 */
int vt_plant(const struct vt_options *o, char **argv, const char *kind)
{
	char path[64], text[16];
	long us;
	int fd, n;

	if (!argv[o->index] || argv[o->index + 1])
		vt_usage(o);
	us = vt_number_or_die(o->bad_status, argv[o->index], 1, 1000000);
	snprintf(path, sizeof(path), PLANT_DIR "/%s", kind);
	fd = open(path, O_WRONLY);
	if (fd < 0 && errno == ENOENT)
		vt_die(1, "no %s (is debugfs mounted? mount -t debugfs debugfs /sys/kernel/debug)", path);
	if (fd < 0)
		vt_die_errno(1, path);
	n = snprintf(text, sizeof(text), "%ld\n", us);
	if (vt_write_all(fd, text, (size_t)n) < 0)
		vt_die_errno(1, path);
	close(fd);
	return 0;
}
