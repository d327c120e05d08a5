/*
 * Events that trace-cmd writes in its own way: those of the tracers, messages, stacks, and the
 * scheduler's main ones. Each has a function here that appends the text of one record; every other
 * event goes by its own print format (traceprint.c). The columns are trace-cmd's, so that the two
 * outputs can be compared byte by byte.
 */
#include <vt_report.h>

#define MAX_CPUS 4096

/*
 * The number in a field of this record; 0 when the event has no such field, as in another kernel's
 * file.
 */
static long long field(const struct vt_record *r, const char *name)
{
	return vt_record_number(r->event, name, r->data, r->size);
}

/* Append a field that holds text, up to its zero or the field's end. */
static void put_text_field(struct vt_bytes *out, const struct vt_record *r, const char *name)
{
	const struct vt_field *f = vt_event_field(r->event, name);
	unsigned n = 0;
	const unsigned char *bytes = f ? vt_field_bytes(f, r->data, r->size, &n) : NULL;

	if (bytes)
		vt_put(out, bytes, strnlen((const char *)bytes, n));
}

/* The name of the function at this address, or the address where none is known. */
static void put_symbol(struct vt_bytes *out, const struct vt_record *r, unsigned long long address)
{
	const struct vt_symbol *symbol = vt_find_symbol(r->file, address);

	if (symbol)
		vt_put(out, symbol->name, strlen(symbol->name));
	else
		vt_bytes_printf(out, "0x%lx", (unsigned long)address);
}

/* ---- function: indented as deep as its caller stands in what was called before on that CPU */

static struct stack {
	const char **names;
	size_t n;
} stacks[MAX_CPUS];

/* The name at this depth of the stack, which grows as needed. */
static void set_name(struct stack *s, size_t at, const char *name)
{
	if (at >= s->n) {
		s->names = vt_realloc(s->names, (at + 1) * sizeof(*s->names));
		s->n = at + 1;
	}
	s->names[at] = name;
}

/*
 * How deep the call stands. The tracer tells who called whom, not how deep, so the caller is looked
 * for among the functions that were called before: the callee stands one below it. A caller that is
 * not there begins a new stack. For example: after main -> a -> b were called, a call whose caller is
 * a stands one below a, and forgets nothing of what lies deeper. It is a guess: a function that
 * returned is still in the stack, and recursion finds the outermost of two equal names.
 */
static size_t indentation(struct stack *s, const char *caller, const char *callee)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!strcmp(s->names[i], caller)) {
			set_name(s, i + 1, callee);
			return i;
		}
	}
	set_name(s, 0, caller);
	set_name(s, 1, callee);
	return 0;
}

/* A call as its function's name, three blanks in for each level. */
static void print_function(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu)
{
	const struct vt_symbol *callee = vt_find_symbol(r->file, (unsigned long long)field(r, "ip"));
	const struct vt_symbol *caller = vt_find_symbol(r->file, (unsigned long long)field(r, "parent_ip"));
	size_t depth = 0;

	if (r->cpu < MAX_CPUS && callee && caller)
		depth = indentation(&stacks[r->cpu], caller->name, callee->name);
	while (depth--)
		vt_put(out, "   ", 3);
	put_symbol(out, r, (unsigned long long)field(r, "ip"));
}

/* ---- function_graph */

/*
 * The time in us with three digits behind the point, and a mark where it is long: + above 10 us, !
 * above 100 us, # above 1 ms, $ above 1 s, as in docs/tracer-function_graph.md.
 */
static void put_duration(struct vt_bytes *out, unsigned long long ns)
{
	static const struct {
		unsigned long long more;
		char mark;
	} marks[] = {{1000000000, '$'}, {1000000, '#'}, {100000, '!'}, {10000, '+'}};
	char mark = ' ', text[32];
	int n;

	for (size_t i = ARRAY_SIZE(marks); i-- > 0;)
		if (ns > marks[i].more)
			mark = marks[i].mark;
	n = snprintf(text, sizeof(text), "%lu.%03lu", (unsigned long)(ns / 1000), (unsigned long)(ns % 1000));
	vt_bytes_printf(out, "%c %s us %*s|  ", mark, text, n < 7 ? 7 - n : 0, "");
}

/* Two blanks for each level of a call. */
static void put_indented(struct vt_bytes *out, long long depth)
{
	for (; depth > 0; depth--)
		vt_put(out, "  ", 2);
}

/*
 * Whether the record that `ahead` has reached on that CPU is the next one of the whole report. A
 * record of another CPU in between would be printed between the two lines, so they cannot be joined.
 * Losses in between forbid it, too: the return may belong to another call.
 */
static bool is_next(const struct vt_buffer *buffer, const struct vt_cpu *ahead, int cpu)
{
	for (int i = 0; i < buffer->nr_cpus; i++) {
		const struct vt_cpu *other = &buffer->cpus[i];

		if (i != cpu && other->data && (other->ts < ahead->ts || (other->ts == ahead->ts && i < cpu)))
			return false;
	}
	return !ahead->lost;
}

/*
 * A call whose return is the very next record is a leaf and becomes one line with its duration; else
 * the line ends in an open brace, and the closing brace of its return has the duration.
 *
 *     0.750 us    |  _raw_spin_lock();              entry and exit in one: *cpu is moved to the exit
 *                 |  vfs_read() {                   entry alone
 *     + 12.500 us |  }                              exit alone
 *
 * The look ahead works on a copy of the CPU's position: if the next record does not fit, nothing has
 * moved.
 */
static void print_graph_entry(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu)
{
	unsigned long long func = (unsigned long long)field(r, "func");
	struct vt_record next = *r;
	struct vt_cpu ahead = *cpu;
	bool leaf = vt_cpu_next(r->file, &ahead) && is_next(r->buffer, &ahead, r->cpu);

	next.data = ahead.data;
	next.size = ahead.size;
	next.event = leaf ? vt_find_event(r->file, (unsigned)vt_take_number(next.data, 2)) : NULL;
	leaf = next.event && !strcmp(next.event->name, "funcgraph_exit") &&
	       (unsigned long long)field(&next, "func") == func && field(&next, "common_pid") == field(r, "common_pid");
	if (leaf) {
		put_duration(out, (unsigned long long)(field(&next, "rettime") - field(&next, "calltime")));
		*cpu = ahead;
	} else {
		vt_put(out, "             |  ", 16);
	}
	put_indented(out, field(r, "depth"));
	put_symbol(out, r, func);
	vt_put(out, leaf ? "();" : "() {", leaf ? 3 : 4);
}

/* The return of a call that was no leaf. A file may begin with one whose call was overwritten. */
static void print_graph_exit(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu)
{
	put_duration(out, (unsigned long long)(field(r, "rettime") - field(r, "calltime")));
	put_indented(out, field(r, "depth"));
	vt_put(out, "}", 1);
}

/* ---- Stacks and messages */

/*
 * A stack as a line for each address, the innermost first. The kernel ends it with ~0 where there is
 * room left.
 */
static void print_stack(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu)
{
	const struct vt_field *callers = vt_event_field(r->event, "caller");
	unsigned at = callers && callers->offset < r->size ? callers->offset : r->size;

	vt_put(out, "<stack trace >", 14);
	for (; at + 8 <= r->size; at += 8) {
		unsigned long long address = vt_take_number(r->data + at, 8);
		const struct vt_symbol *symbol = vt_find_symbol(r->file, address);

		if (address == ~0ull)
			break;
		if (symbol)
			vt_bytes_printf(out, "\n=> %s (%lx)", symbol->name, (unsigned long)address);
		else
			vt_bytes_printf(out, "\n=> %lx", (unsigned long)address);
	}
}

/* The next argument of so many bytes, behind the padding to four. *at is moved behind it, perhaps behind the end. */
static unsigned long long take_argument(const struct vt_record *r, const unsigned char **at, const unsigned char *end,
					size_t size)
{
	const unsigned char *from = r->data + ((size_t)(*at - r->data) + 3) / 4 * 4;

	*at = from + size;
	return *at <= end ? vt_take_number(from, size) : 0;
}

/*
 * Append a message of trace_printk() whose arguments were recorded as bytes (bprint). The kernel did
 * not format it when it was recorded, which makes trace_printk() cheap: it stored the address of the
 * format and the arguments as vbin_printf() lays them out, in words of four bytes, texts inline.
 *
 *     format "%s took %ld ns"     arguments:  'c' 'l' 'o' 'c'   'k'  0  .  .   8 bytes of the number
 *
 * The format comes from printk_formats with its escapes and its closing quote. A * in a conversion is an argument
 * before its own, and becomes a number in `spec`. Arguments that would end beyond the record end the text.
 */
static void put_binary(struct vt_bytes *out, const struct vt_record *r, const char *format, const unsigned char *at,
		       const unsigned char *end)
{
	while (*format && *format != '"') {
		struct vt_value value = {0};
		size_t n = 1 + strspn(format + 1, "-+ #0123456789.*hlLzq"), length = 0;
		char spec[64];
		bool is_long = memchr(format, 'l', n) || memchr(format, 'z', n) || format[n] == 'p';
		size_t size = is_long ? 8 : 4;

		if (*format == '\\' && format[1]) {
			vt_put(out, format[1] == 'n' ? "\n" : format[1] == 't' ? "\t" : format + 1, 1);
			format += 2;
			continue;
		}
		if (*format != '%' || format[1] == '%') {
			vt_put(out, format, 1);
			format += *format == '%' ? 2 : 1;
			continue;
		}
		for (size_t i = 0; i < n && length < sizeof(spec) - 16; i++) {
			if (format[i] == '*')
				length += (size_t)sprintf(spec + length, "%d", (int)take_argument(r, &at, end, 4));
			else
				spec[length++] = format[i];
		}
		snprintf(spec + length, 3, "%s", format + n); /* the letter, and what may stand behind a p */
		if (format[n] == 's' && at <= end) {
			value.s = (const char *)at;
			at += strnlen(value.s, (size_t)(end - at)) + 1;
		} else {
			value.n = take_argument(r, &at, end, size);
		}
		if (at > end)
			return;
		format += n + (size_t)(vt_print_one(out, r->file, spec, &value) - spec) - length;
	}
}

/*
 * The format is looked up by its address, which the record has; a kernel without it shows the address.
 */
static void print_bprint(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu)
{
	unsigned long long place = (unsigned long long)field(r, "fmt");
	const char *format = vt_find_name(r->file->formats, r->file->nr_formats, place);
	const struct vt_field *buf = vt_event_field(r->event, "buf");

	put_symbol(out, r, (unsigned long long)field(r, "ip"));
	vt_put(out, ": ", 2);
	if (!format)
		vt_bytes_printf(out, "[no format %lx]", (unsigned long)place);
	else if (buf && buf->offset <= r->size)
		put_binary(out, r, format + (*format == '"'), r->data + buf->offset, r->data + r->size);
}

/*
 * A message without conversions: the record has the address of the text only. There are no arguments,
 * so the range given to put_binary() is empty.
 */
static void print_bputs(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu)
{
	put_symbol(out, r, (unsigned long long)field(r, "ip"));
	vt_put(out, ": ", 2);
	put_binary(out, r,
		   vt_find_name(r->file->formats, r->file->nr_formats, (unsigned long long)field(r, "str"))
			   ?: "\"[no text]",
		   r->data, r->data);
}

/* ---- The scheduler */

/* A task as "bash:123 [120]": name, pid, and the priority as the kernel counts it (120 is nice 0). */
static void put_task(struct vt_bytes *out, const struct vt_record *r, const char *comm, const char *pid,
		     const char *prio)
{
	put_text_field(out, r, comm);
	vt_bytes_printf(out, ":%d [%d]", (int)field(r, pid), (int)field(r, prio));
}

/*
 * A switch between tasks. The state of the task that stops is a set of bits (S: sleeps, D: sleeps and
 * takes no signals, T: stopped, Z: has ended); no bit at all means that it was runnable and has been
 * preempted, which is R.
 */
static void print_switch(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu)
{
	static const char letters[] = "SDTtXZPI";
	long long state = field(r, "prev_state");
	bool any = false;

	put_task(out, r, "prev_comm", "prev_pid", "prev_prio");
	vt_put(out, " ", 1);
	for (int bit = 0; letters[bit]; bit++) {
		if (state >> bit & 1) {
			vt_put(out, "|", any);
			vt_put(out, &letters[bit], 1);
			any = true;
		}
	}
	if (!any)
		vt_put(out, "R", 1);
	vt_put(out, " ==> ", 5);
	put_task(out, r, "next_comm", "next_pid", "next_prio");
}

/* A wake-up says on which CPU the task will run; that may differ from the CPU that recorded it. */
static void print_wakeup(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu)
{
	put_task(out, r, "comm", "pid", "prio");
	if (vt_event_field(r->event, "target_cpu"))
		vt_bytes_printf(out, " CPU:%03d", (int)field(r, "target_cpu"));
}

/* ---- Timers */

/* Start and expiry share this function; only a start has the field `expires`. */
static void print_hrtimer(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu)
{
	bool start = vt_event_field(r->event, "expires") != NULL;

	vt_bytes_printf(out, "hrtimer=0x%lx", (unsigned long)field(r, "hrtimer"));
	if (!start)
		vt_bytes_printf(out, " now=%lu", (unsigned long)field(r, "now"));
	vt_put(out, " function=", 10);
	put_symbol(out, r, (unsigned long long)field(r, "function"));
	vt_put(out, "/0x0", 4);
	if (start)
		vt_bytes_printf(out, " expires=%lu softexpires=%lu", (unsigned long)field(r, "expires"),
				(unsigned long)field(r, "softexpires"));
}

/* ---- TLB */

/* Linux's reasons to flush; the fifth, to ask others for it, is younger than the plug-in, which has no words for it. */
static void print_tlb_flush(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu)
{
	static const char *const reasons[] = {"flush on task switch", "remote shootdown", "local shootdown",
					      "local mm shootdown"};
	unsigned long reason = field(r, "reason");

	(void)cpu;
	vt_bytes_printf(out, "pages=%ld reason=%s (%lu)", (long)field(r, "pages"),
			reason < ARRAY_SIZE(reasons) ? reasons[reason] : "", reason);
}

/* ---- Memory: the caller stands in front of what the format says */

/* The caller of the allocator in front of the text that the event's own format makes. */
static void print_kmem(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu)
{
	struct vt_value site = {.n = (unsigned long long)field(r, "call_site")};

	vt_put(out, "(", 1);
	vt_print_one(out, r->file, "%pS", &site);
	vt_put(out, ") ", 2);
	vt_print_format(out, r);
}

/* Found by name, not by number: ids differ from kernel to kernel. */
bool vt_print_plugin(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu)
{
	static const struct {
		const char *name;
		void (*print)(struct vt_bytes *out, const struct vt_record *r, struct vt_cpu *cpu);
	} plugins[] = {{"function", print_function},
		       {"funcgraph_entry", print_graph_entry},
		       {"funcgraph_exit", print_graph_exit},
		       {"kernel_stack", print_stack},
		       {"bprint", print_bprint},
		       {"bputs", print_bputs},
		       {"sched_switch", print_switch},
		       {"sched_wakeup", print_wakeup},
		       {"sched_wakeup_new", print_wakeup},
		       {"hrtimer_start", print_hrtimer},
		       {"hrtimer_expire_entry", print_hrtimer},
		       {"kmalloc", print_kmem},
		       {"kfree", print_kmem},
		       {"kmem_cache_alloc", print_kmem},
		       {"kmem_cache_free", print_kmem},
		       {"tlb_flush", print_tlb_flush}};

	for (size_t i = 0; i < ARRAY_SIZE(plugins); i++) {
		if (!strcmp(plugins[i].name, r->event->name)) {
			plugins[i].print(out, r, cpu);
			return true;
		}
	}
	return false;
}
