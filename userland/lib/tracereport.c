/*
 * trace-cmd report: the records of all CPUs in the order of their times, a line each, as trace-cmd writes
 * them.
 *
 * Instances in the file are not shown, and said so.
 */
#include <vt_report.h>
#include <limits.h>

static struct {
	bool plain, nanoseconds;
	long cpu;		/* -1: all */
	const char *events[16]; /* only these, if there are any */
	size_t nr_events;
} opt = {.cpu = -1};

static const char help[] = "  -i FILE   in place of trace.dat (also as an operand)\n"
			   "  -N        what the events' own formats say, not as the plug-ins write it\n"
			   "  -t        times with all nanoseconds\n"
			   "  -F EVENT  only this event, again for more\n"
			   "  --cpu N   only this CPU\n";

/* The CPU whose next record is the earliest, or -1. */
static int earliest(const struct vt_dat_file *f)
{
	int found = -1;

	for (int cpu = 0; cpu < f->nr_cpus; cpu++)
		if (f->cpus[cpu].data && (found < 0 || f->cpus[cpu].ts < f->cpus[found].ts))
			found = cpu;
	return found;
}

static bool is_wanted(const struct vt_event *e, int cpu)
{
	bool found = !opt.nr_events;

	for (size_t i = 0; i < opt.nr_events; i++)
		found |= !strcmp(opt.events[i], e->name);
	return found && (opt.cpu < 0 || opt.cpu == cpu);
}

static void put_head(struct vt_bytes *out, const struct vt_record *r, unsigned long long ts)
{
	int pid = (int)vt_record_number(r->event, "common_pid", r->data, r->size);
	const char *comm = pid ? vt_find_name(r->file->comms, r->file->nr_comms, (unsigned)pid) : "<idle>";
	unsigned long whole, rest;

	if (!opt.nanoseconds)
		ts = (ts + 500) / 1000;
	whole = (unsigned long)(ts / (opt.nanoseconds ? 1000000000 : 1000000));
	rest = (unsigned long)(ts % (opt.nanoseconds ? 1000000000 : 1000000));
	vt_bytes_printf(out, "%16s-%-5d [%03d] %5lu.%0*lu: ", comm ?: "<...>", pid, r->cpu, whole,
			opt.nanoseconds ? 9 : 6, rest);
	vt_bytes_printf(out, "%s:", r->event->name);
	vt_bytes_printf(out, "%*s", strlen(r->event->name) < 20 ? (int)(21 - strlen(r->event->name)) : 1, "");
}

static void print_record(const struct vt_dat_file *f, int cpu, struct vt_bytes *out)
{
	struct vt_cpu *from = &f->cpus[cpu];
	const unsigned id = (unsigned)vt_take_number(from->data, 2);
	struct vt_record r = {f, vt_find_event(f, id), from->data, from->size, cpu};

	out->n = 0;
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

static int report(const char *path)
{
	struct vt_dat_file f;
	struct vt_bytes out = {};
	int cpu;

	vt_dat_open(&f, path);
	printf("cpus=%d\n", f.nr_cpus);
	if (f.text)
		fwrite(f.text, 1, f.text_size, stdout);
	for (int i = 0; i < f.nr_cpus && f.cpus; i++)
		vt_cpu_next(&f, &f.cpus[i]);
	while (f.cpus && (cpu = earliest(&f)) >= 0) {
		print_record(&f, cpu, &out);
		vt_cpu_next(&f, &f.cpus[cpu]);
	}
	if (f.more_buffers)
		vt_warn("%s: %lu instances in it are not shown", path, (unsigned long)f.more_buffers);
	free(out.data);
	return vt_finish(f.more_buffers ? 1 : 0);
}

/* "--cpu N" and "--cpu=N" as a letter. */
static void shorten(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *rest = argv[i] + 5, *word;

		if (strncmp(argv[i], "--cpu", 5) || (*rest && *rest != '='))
			continue;
		word = vt_malloc(strlen(rest) + 3);
		sprintf(word, "-C%s", *rest ? rest + 1 : rest);
		argv[i] = word;
	}
}

int vt_report_main(struct vt_options *o, int argc, char **argv)
{
	const char *path = "trace.dat";
	int c;

	shorten(argc, argv);
	o->usage = "trace-cmd report [-Nt] [--cpu N] [-F EVENT] [[-i] FILE]";
	o->options = "i:NtC:F:";
	o->help = help;
	o->in_order = false;
	while ((c = vt_option(o, argc, argv)) != -1) {
		if (c == 'i')
			path = o->arg;
		else if (c == 'N')
			opt.plain = true;
		else if (c == 't')
			opt.nanoseconds = true;
		else if (c == 'C')
			opt.cpu = vt_number_or_die(1, o->arg, 0, INT_MAX);
		else if (strpbrk(o->arg, ":=<>& "))
			vt_die(1, "-F '%s': a filter's conditions are not taken, only an event's name",
			       o->arg);
		else if (opt.nr_events == ARRAY_SIZE(opt.events))
			vt_die(1, "more than %lu events", (unsigned long)opt.nr_events);
		else
			opt.events[opt.nr_events++] = o->arg;
	}
	if (argc - o->index > 1)
		vt_usage(o);
	return report(o->index < argc ? argv[o->index] : path);
}
