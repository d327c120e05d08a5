/*
 * Uprobe events: an event that is recorded when a program comes to an instruction, or when a function of it returns.
 *
 *	p[:[GROUP/][EVENT]] PATH:OFFSET[(REF_CTR_OFFSET)] [ARGS]
 *	r[:[GROUP/][EVENT]] PATH:OFFSET [ARGS]			also p ... PATH:OFFSET%return
 *
 * Each is a uprobe (<trace/uprobes.h>) that is registered while an array has the event on. So an instruction that may
 * not be probed is refused when the event is enabled, as on Linux. The file is kept open from the definition on.
 *
 * A hit may sleep, but not while it makes the record. So the memory that the arguments name is looked at once before,
 * which brings pages that were not there; then preemption goes off, and the record is made as any other is.
 */
#include <asm/ptrace.h>
#include <fs/vfs.h>
#include <kernel/percpu.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <trace/uprobes.h>
#include <uapi/fcntl.h>

#include "dynevents/probe.h"
#include "events/event_file.h"
#include "output/iter.h"

struct uprobe_event {
	struct probe probe;
	struct uprobe_consumer consumer;
	struct uprobe *uprobe; /* [e] NULL: the event is off */
	bool is_return;
	char *path;	   /* as it was written */
	struct file *file; /* with a reference */
	unsigned long offset, ref_ctr_offset;
	unsigned long *hits; /* per CPU */
};

static struct uprobe_event *uprobe_event_of(const struct dyn_event *dev)
{
	return container_of(probe_of(dev), struct uprobe_event, probe);
}

/* ---- A hit, in the program's task */

/* head: where, and for a return also where to. */
static void record_hit(struct uprobe_event *u, struct fetch_source *src, const unsigned long *head)
{
	src->user = true;
	src->file_base = head[0] - u->offset;
	fetch_touch(&u->probe.args, src);
	preempt_disable();
	this_cpu_ptr(u->hits)[0]++;
	probe_record(&u->probe, src, head, (unsigned long)__builtin_frame_address(0));
	preempt_enable();
}

static int uprobe_event_hit(struct uprobe_consumer *c, struct pt_regs *regs)
{
	struct fetch_source src = {.regs = regs};
	const unsigned long head[] = {instruction_pointer(regs)};

	record_hit(container_of(c, struct uprobe_event, consumer), &src, head);
	return 0;
}

static int uprobe_event_return(struct uprobe_consumer *c, unsigned long func, struct pt_regs *regs)
{
	struct fetch_source src = {.regs = regs, .retval = regs_return_value(regs)};
	const unsigned long head[] = {func, instruction_pointer(regs)};

	record_hit(container_of(c, struct uprobe_event, consumer), &src, head);
	return 0;
}

/* ---- The text of a record */

static void print_uprobe(struct seq_file *s, struct trace_iterator *iter, const unsigned long *head)
{
	seq_printf(s, "(0x%lx)", head[0]);
}

static void print_uretprobe(struct seq_file *s, struct trace_iterator *iter, const unsigned long *head)
{
	seq_printf(s, "(0x%lx <- 0x%lx)", head[1], head[0]);
}

/* ---- On and off: event_mutex held */

/*
 * Switching off returns when no hit is under way. The probe may be off already if another probe of the event has
 * failed.
 */
static int uprobe_switch_on(struct probe *p, bool on)
{
	struct uprobe_event *u = uprobe_event_of(&p->dev);
	struct uprobe *uprobe;

	if (!on) {
		if (u->uprobe)
			uprobe_unregister(u->uprobe, &u->consumer);
		u->uprobe = NULL;
		return 0;
	}
	uprobe = uprobe_register(u->file, u->offset, u->ref_ctr_offset, &u->consumer);
	if (IS_ERR(uprobe))
		return PTR_ERR(uprobe);
	u->uprobe = uprobe;
	return 0;
}

static void free_uprobe_event(struct probe *p)
{
	struct uprobe_event *u = uprobe_event_of(&p->dev);

	probe_free_parts(p);
	if (u->file)
		fput(u->file);
	free_percpu(u->hits);
	kfree(u->path);
	kfree(u);
}

static bool same_place(const struct probe *a, const struct probe *b)
{
	const struct uprobe_event *x = container_of(a, struct uprobe_event, probe),
				  *y = container_of(b, struct uprobe_event, probe);

	return x->file->f_inode == y->file->f_inode && x->offset == y->offset;
}

static const struct probe_class uprobe_class = {
	.letter = 'p',
	.head = PROBE_AT,
	.print_head = print_uprobe,
	.switch_on = uprobe_switch_on,
	.same = same_place,
	.free = free_uprobe_event,
};
static const struct probe_class uretprobe_class = {
	.letter = 'r',
	.head = PROBE_RETURN,
	.print_head = print_uretprobe,
	.switch_on = uprobe_switch_on,
	.same = same_place,
	.free = free_uprobe_event,
};

/* ---- Definitions */

/* The file, which must be there and be a regular one. 0 or -errno. */
static int open_file(struct uprobe_event *u, struct dyn_command *c)
{
	struct path path;
	int err = kern_path_at(AT_FDCWD, u->path, LOOKUP_FOLLOW, &path);
	bool regular;

	if (err) {
		dyn_refuse(c, c->words[1], "Failed to find the given file");
		return err;
	}
	regular = S_ISREG(path.dentry->d_inode->i_mode);
	path_put(&path);
	if (!regular)
		return dyn_refuse(c, c->words[1], "Not a regular file");
	u->file = filp_open(u->path, O_RDONLY, 0);
	if (!IS_ERR(u->file))
		return 0;
	err = PTR_ERR(u->file);
	u->file = NULL;
	return err;
}

/* "(OFFSET)" behind the offset of the place, which ends where the brace was. */
static int parse_counter(struct uprobe_event *u, struct dyn_command *c, char *brace)
{
	char *end = strchr(brace, ')');

	if (!end)
		return dyn_refuse(c, brace + strlen(brace), "Reference counter brace is not closed");
	if (end[1])
		return dyn_refuse(c, end + 1, "Reference counter has wrong suffix");
	*brace = *end = '\0';
	if (kstrtoul(brace + 1, 0, &u->ref_ctr_offset))
		return dyn_refuse(c, brace + 1, "Invalid reference counter offset");
	return 0;
}

/* "OFFSET[(REF_CTR_OFFSET)]" or "OFFSET[%return]". */
static int parse_offset(struct uprobe_event *u, struct dyn_command *c, char *at)
{
	char *brace = strchr(at, '('), *percent;
	int err = brace ? parse_counter(u, c, brace) : 0;

	if (err)
		return err;
	percent = strchr(at, '%');
	if (percent && strcmp(percent, "%return"))
		return dyn_refuse(c, percent, "Invalid probed address suffix");
	if (percent) {
		*percent = '\0';
		u->is_return = true;
	}
	return kstrtoul(at, 0, &u->offset) ? dyn_refuse(c, at, "Invalid uprobe offset") : 0;
}

/* "p_sh_0x4f0" is the name of an event that has none: of the last part of the path up to a dot, dash or underscore. */
static void make_name(const struct uprobe_event *u, char *name)
{
	const char *slash = strrchr(u->path, '/'), *tail = slash ? slash + 1 : u->path;

	scnprintf(name, DYN_NAME_MAX, "p_%.*s_0x%lx", (int)strcspn(tail, ".-_"), tail, u->offset);
}

static const struct dyn_event_kind uprobe_kind;

/* The path, and the offset in hexadecimal. NULL: no memory. */
static char *place_text(const struct uprobe_event *u)
{
	if (u->ref_ctr_offset)
		return kasprintf(GFP_KERNEL, "%s:0x%016lx(0x%lx)", u->path, u->offset, u->ref_ctr_offset);
	return kasprintf(GFP_KERNEL, "%s:0x%016lx", u->path, u->offset);
}

static int add(struct uprobe_event *u, struct dyn_command *c, const char *group, const char *name)
{
	int err;

	mutex_lock(&event_mutex);
	err = probe_add(&u->probe, c, group, name, &uprobe_kind);
	mutex_unlock(&event_mutex);
	return err;
}

/* The place is cut at `colon`, which stands before its offset. */
static int parse_all(struct uprobe_event *u, struct dyn_command *c, char *colon)
{
	char made[DYN_NAME_MAX];
	const char *group = "uprobes", *name = NULL;
	int err;

	*colon = '\0';
	u->path = kstrdup(c->words[1], GFP_KERNEL);
	err = u->path ? open_file(u, c) : -ENOMEM;
	if (!err)
		err = parse_offset(u, c, colon + 1);
	err = err ?: dyn_parse_event(c, &group, &name);
	if (err)
		return err;
	if (!name) {
		make_name(u, made);
		name = made;
	}
	if (u->is_return)
		u->consumer.ret_handler = uprobe_event_return;
	else
		u->consumer.handler = uprobe_event_hit;
	u->probe.place = place_text(u);
	if (!u->probe.place)
		return -ENOMEM;
	return probe_parse_args(&u->probe, c, u->is_return ? &uretprobe_class : &uprobe_class,
				FETCH_USER | (u->is_return ? FETCH_RETURN : 0), NULL)
		       ?: add(u, c, group, name);
}

/* A place with a slash, and with a colon before a digit, is one in a file. */
static int uprobe_create(struct dyn_command *c)
{
	const char *word = c->words[0];
	char *colon = c->nr > 1 ? strrchr(c->words[1], ':') : NULL;
	struct uprobe_event *u;
	int err;

	if ((*word != 'p' && *word != 'r') || (word[1] && word[1] != ':') || !colon || !strchr(c->words[1], '/') ||
	    !isdigit(colon[1]))
		return DYN_NOT_MINE;
	u = kzalloc(sizeof(*u), GFP_KERNEL);
	if (!u)
		return -ENOMEM;
	u->is_return = *word == 'r';
	u->hits = alloc_percpu(unsigned long);
	err = u->hits ? parse_all(u, c, colon) : -ENOMEM;
	if (err)
		free_uprobe_event(&u->probe);
	return err;
}

static const struct dyn_event_kind uprobe_kind = {
	.file = "uprobe_events",
	.log = "trace_uprobe",
	.create = uprobe_create,
	.show = probe_show,
	.call = probe_call,
	.free = probe_free,
	.match = probe_match,
};
REGISTER_DYN_EVENT_KIND(uprobe_kind);
DYN_EVENT_FILE(uprobe_events, "uprobe_events");

/* ---- uprobe_profile */

/* A line for each probe, in the order of their lines: path, event, hits on all CPUs. */
static int uprobe_profile_show(struct seq_file *m, void *data)
{
	struct dyn_event *dev;

	mutex_lock(&event_mutex);
	for_each_dyn_event(dev) {
		const struct uprobe_event *u = uprobe_event_of(dev);
		unsigned long hits = 0;
		unsigned cpu;

		if (dev->kind != &uprobe_kind)
			continue;
		for_each_possible_cpu(cpu)
			hits += *per_cpu_ptr(u->hits, cpu);
		seq_printf(m, "  %s %-44s %15lu\n", u->path, u->probe.event->name, hits);
	}
	mutex_unlock(&event_mutex);
	return 0;
}
TRACEFS_TEXT_FILE(uprobe_profile, "uprobe_profile", 0440, TRACEFS_TOP, uprobe_profile_show, NULL);
