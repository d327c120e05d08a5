/*
 * trace-cmd report: the records of all CPUs in the order of their times, a line each, as trace-cmd
 * writes them. Each CPU's records are in order already, so it is a merge: the CPU whose next record
 * is the earliest comes first. With instances in the file each line of theirs begins with the name.
 *
 *     |          bash-123   [001]    12.345678: sched_switch:          bash:123 [120] S ==> ...
 */
#include <vt_report.h>
#include <limits.h>

static struct {
	bool plain, nanoseconds, latency;
	long cpu;		/* -1: all */
	const char *events[16]; /* only these, if there are any */
	size_t nr_events;
} opt = {.cpu = -1};

static const char help[] = "  -i FILE   in place of trace.dat (also as an operand)\n"
			   "  -N        what the events' own formats say, not as the plug-ins write it\n"
			   "  -t        times with all nanoseconds\n"
			   "  -l        latency format: what was off, and how deep preemption was disabled\n"
			   "  -F EVENT  only this event, again for more\n"
			   "  --cpu N   only this CPU\n";

/*
 * The CPU whose next record is the earliest of all buffers, and in *of its buffer; NULL when there are
 * no more records. Of equal times the first CPU of the first buffer wins, which is_next() in
 * tracetext.c knows. A search through all CPUs for each record is cheap enough for the few there are.
 */
static struct vt_cpu *earliest(const struct vt_dat_file *f, const struct vt_buffer **of)
{
	struct vt_cpu *found = NULL;

	for (size_t i = 0; i < f->nr_buffers; i++) {
		for (int n = 0; n < f->buffers[i].nr_cpus; n++) {
			struct vt_cpu *cpu = &f->buffers[i].cpus[n];

			if (!cpu->data || (found && cpu->ts >= found->ts))
				continue;
			found = cpu;
			*of = &f->buffers[i];
		}
	}
	return found;
}

/* Did the command line ask for this event on this CPU? */
static bool is_wanted(const struct vt_event *e, int cpu)
{
	bool found = !opt.nr_events;

	for (size_t i = 0; i < opt.nr_events; i++)
		found |= !strcmp(opt.events[i], e->name);
	return found && (opt.cpu < 0 || opt.cpu == cpu);
}

/*
 * What the record says of interrupts (d: off), of rescheduling (N: wanted) and of the context (h, s, H: a hard
 * interrupt, a softirq, one within the other); then both digits of the preemption count, the lower one first, and 0 as
 * a dot.
 */
static void put_context(struct vt_bytes *out, const struct vt_record *r)
{
	enum { IRQS_OFF = 1, UNKNOWN = 2, NEED_RESCHED = 4, HARDIRQ = 8, SOFTIRQ = 16 };
	static const char digits[] = ".123456789abcdef";
	unsigned flags = (unsigned)vt_record_number(r->event, "common_flags", r->data, r->size);
	unsigned depth = (unsigned)vt_record_number(r->event, "common_preempt_count", r->data, r->size);
	char text[] = "...";

	if (flags & (IRQS_OFF | UNKNOWN))
		text[0] = flags & IRQS_OFF ? 'd' : 'X';
	if (flags & NEED_RESCHED)
		text[1] = 'N';
	if (flags & (HARDIRQ | SOFTIRQ))
		text[2] = !(flags & HARDIRQ) ? 's' : flags & SOFTIRQ ? 'H' : 'h';
	vt_bytes_printf(out, "%s%c%c", text, digits[depth & 15], digits[depth >> 4 & 15]);
}

/*
 * The columns before the event's own text: task, CPU, context (with -l), time, name. Times are
 * rounded to us, or have all digits with -t.
 */
static void put_head(struct vt_bytes *out, const struct vt_record *r, unsigned long long ts)
{
	int pid = (int)vt_record_number(r->event, "common_pid", r->data, r->size);
	const char *comm = pid ? vt_find_name(r->file->comms, r->file->nr_comms, (unsigned)pid) : "<idle>";
	unsigned long whole, rest;

	if (!opt.nanoseconds)
		ts = (ts + 500) / 1000;
	whole = (unsigned long)(ts / (opt.nanoseconds ? 1000000000 : 1000000));
	rest = (unsigned long)(ts % (opt.nanoseconds ? 1000000000 : 1000000));
	vt_bytes_printf(out, opt.latency ? "%8.8s-%-5d %3d" : "%16s-%-5d [%03d]", comm ?: "<...>", pid, r->cpu);
	if (opt.latency)
		put_context(out, r);
	vt_bytes_printf(out, " %5lu.%0*lu: ", whole, opt.nanoseconds ? 9 : 6, rest);
	vt_bytes_printf(out, "%s:", r->event->name);
	vt_bytes_printf(out, "%*s", strlen(r->event->name) < 20 ? (int)(21 - strlen(r->event->name)) : 1, "");
}

/* The name of the buffer, in a column as wide as the longest; nothing in a file without instances. */
static void put_buffer(struct vt_bytes *out, const struct vt_dat_file *f, const struct vt_buffer *buffer)
{
	size_t width = 0;

	for (size_t i = 0; i < f->nr_buffers; i++)
		if (strlen(f->buffers[i].name) > width)
			width = strlen(f->buffers[i].name);
	if (f->nr_buffers > 1)
		vt_bytes_printf(out, "%*s%s ", (int)width, buffer->name, *buffer->name ? ":" : " ");
}

/*
 * Print one record, with what the CPU has lost before it. A line for a record that is not wanted is
 * dropped together with that.
 */
static void print_record(const struct vt_dat_file *f, const struct vt_buffer *buffer, struct vt_cpu *from,
			 struct vt_bytes *out)
{
	const int cpu = (int)(from - buffer->cpus);
	const unsigned id = (unsigned)vt_take_number(from->data, 2);
	struct vt_record r = {f, vt_find_event(f, id), from->data, from->size, cpu, buffer};

	out->n = 0;
	put_buffer(out, f, buffer);
	if (from->lost > 0)
		vt_bytes_printf(out, "CPU:%d [%ld EVENTS DROPPED]\n", cpu, from->lost);
	else if (from->lost)
		vt_bytes_printf(out, "CPU:%d [EVENTS DROPPED]\n", cpu);
	if (!r.event)
		vt_die(1, "%s: a record of an unknown event, %u", f->path, id);
	if (!is_wanted(r.event, cpu))
		return;
	put_head(out, &r, from->ts);
	if (opt.plain || !vt_print_plugin(out, &r, from))
		vt_print_format(out, &r);
	if (out->data[out->n - 1] != '\n')
		vt_put(out, "\n", 1);
	fwrite(out->data, 1, out->n, stdout);
}

/*
 * Print the whole file. Each CPU is stepped to its first record; then the earliest is printed and its
 * CPU stepped on, until no CPU has one. A latency tracer's text is printed as it is.
 */
static int report(const char *path)
{
	struct vt_dat_file f;
	struct vt_bytes out = {};
	const struct vt_buffer *buffer;
	struct vt_cpu *cpu;

	vt_dat_open(&f, path);
	printf("cpus=%d\n", f.nr_cpus);
	if (f.text)
		fwrite(f.text, 1, f.text_size, stdout);
	for (size_t i = 0; i < f.nr_buffers; i++)
		for (int n = 0; n < f.buffers[i].nr_cpus; n++)
			vt_cpu_next(&f, &f.buffers[i].cpus[n]);
	while ((cpu = earliest(&f, &buffer))) {
		print_record(&f, buffer, cpu, &out);
		vt_cpu_next(&f, cpu);
	}
	free(out.data);
	return vt_finish(0);
}

/* `trace-cmd report`: its options, then report(). Returns the exit status. */
int vt_report_main(struct vt_options *o, int argc, char **argv)
{
	static const struct vt_long_option longs[] = {{"cpu", 'C'}, {NULL, 0}};
	const char *path = "trace.dat";
	int c;

	o->usage = "trace-cmd report [-Nlt] [--cpu N] [-F EVENT] [[-i] FILE]";
	o->options = "hi:NltC:F:";
	o->longs = longs;
	o->help = help;
	o->in_order = false;
	while ((c = vt_option(o, argc, argv)) != -1) {
		if (c == 'h')
			vt_help(o);
		if (c == 'i')
			path = o->arg;
		else if (c == 'N')
			opt.plain = true;
		else if (c == 't')
			opt.nanoseconds = true;
		else if (c == 'l')
			opt.latency = true;
		else if (c == 'C')
			opt.cpu = vt_number_or_die(1, o->arg, 0, INT_MAX);
		else if (strpbrk(o->arg, ":=<>& "))
			vt_die(1, "-F '%s': a filter's conditions are not taken, only an event's name", o->arg);
		else if (opt.nr_events == ARRAY_SIZE(opt.events))
			vt_die(1, "more than %lu events", (unsigned long)opt.nr_events);
		else
			opt.events[opt.nr_events++] = o->arg;
	}
	if (argc - o->index > 1)
		vt_usage(o);
	return report(o->index < argc ? argv[o->index] : path);
}
