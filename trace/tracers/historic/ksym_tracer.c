/*
 * ksym_tracer of Linux 2.6.31 to 2.6.36: which code reads and writes a variable of the kernel. Hardware breakpoints
 * watch it on all CPUs, and each access is a line and a count.
 *
 *	ksym_trace_filter   what is watched, a line each: "symbol:rw-", "symbol:-w-" or "symbol:r--"
 *	ksym_profile        how often each was accessed
 *
 * Watching begins with the write to ksym_trace_filter and counting with it; records are made while the tracer is
 * selected. Deselecting the tracer ends all watching, as in Linux.
 *
 * A handler runs in debug exception context, which may interrupt any code, the ring buffer's own included: that copes
 * with it as with any nested writer. Accesses by the handler itself are not reported, so it cannot call itself.
 */
#include <arch/hw_breakpoint.h>
#include <asm/ptrace.h>
#include <kernel/hw_breakpoint.h>
#include <kernel/ksyms.h>
#include <kernel/module.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>

#include "core/record.h"
#include "output/iter.h"
#include "tracefs/refused.h"
#include "tracefs/tracefs.h"

/* A symbol that is watched. Locks: k ksym_tracer_mutex; I immutable while it is watched; a atomic. */
struct trace_ksym {
	struct list_head list;	     /* [k] */
	struct perf_event_attr attr; /* [I] */
	struct perf_event **event;   /* [k] */
	atomic64_t counter;	     /* [a] accesses since the symbol was named */
};
static DEFINE_MUTEX(ksym_tracer_mutex);
static LIST_HEAD(ksym_filter); /* [ksym_tracer_mutex] */
/* Records go here; NULL: the tracer is not selected. [trace_types_lock; read by handlers] */
static struct trace_array *ksym_trace_array;

/*
 * Counts and records an access. Debug exception context, preemption off: the entry code has raised preempt_count by
 * one, so the record gets the count less one. ksym_trace_reset() ends all watching before the array can go.
 */
static void ksym_hbp_handler(struct perf_event *bp, struct perf_sample_data *data, struct pt_regs *regs)
{
	struct trace_ksym *ksym = bp->overflow_handler_context;
	struct trace_array *tr = smp_load_acquire(&ksym_trace_array);
	struct ring_buffer_per_cpu *buffer;
	struct ring_buffer_event *event;
	struct ksym_trace_entry *entry;

	atomic64_inc(&ksym->counter);
	if (!tr)
		return;
	buffer = tr->cpu_data[smp_processor_id()].buffer;
	event = ring_buffer_reserve(buffer, sizeof(*entry), trace_clock_now(tr));
	if (!event)
		return;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_KSYM, current, preempt_count() - PREEMPT_OFFSET, arch_local_save_flags());
	if (interrupts_enabled(regs))
		entry->ent.flags &= ~TRACE_FLAG_IRQS_OFF;
	entry->ip = instruction_pointer(regs);
	entry->addr = bp->attr.bp_addr;
	entry->type = bp->attr.bp_type;
	memcpy(entry->cmd, current->comm, TASK_COMM_LEN);
	ring_buffer_commit(buffer);
}

/* The letters of a type: ksym_trace_filter's, and those of the trace and the profile. */
static const char *type_text(u32 type, bool filter)
{
	switch (type) {
	case HW_BREAKPOINT_R:
		return filter ? "r--" : "R ";
	case HW_BREAKPOINT_W:
		return filter ? "-w-" : "W ";
	case HW_BREAKPOINT_RW:
		return filter ? "rw-" : "RW";
	}
	return "NA";
}

static struct trace_ksym *find_ksym(unsigned long addr)
{
	struct trace_ksym *ksym;

	list_for_each_entry(ksym, &ksym_filter, list)
		if (ksym->attr.bp_addr == addr)
			return ksym;
	return NULL;
}

/* No CPU runs its handler when the breakpoint is gone. [ksym_tracer_mutex] */
static void drop_ksym(struct trace_ksym *ksym)
{
	unregister_wide_hw_breakpoint(ksym->event);
	list_del(&ksym->list);
	kfree(ksym);
}

static void drop_all(void)
{
	struct trace_ksym *ksym, *next;

	mutex_lock(&ksym_tracer_mutex);
	list_for_each_entry_safe(ksym, next, &ksym_filter, list)
		drop_ksym(ksym);
	mutex_unlock(&ksym_tracer_mutex);
}

/*
 * How much of the symbol one register can watch: the largest of 8, 4, 2 and 1 bytes that the symbol has, from its
 * beginning. (2.6.33 always took 4.)
 */
static unsigned watch_length(unsigned long addr)
{
	unsigned long size = 1, len = 8;

	kallsyms_lookup(addr, &size, NULL, (char[KSYM_NAME_LEN]){});
	while (len > size || addr & (len - 1))
		len /= 2;
	return len;
}

/* Watch accesses of `type` and count them from 0. 0, -EINVAL, -ENOSPC, -ENOMEM. [ksym_tracer_mutex] */
static int add_ksym(unsigned long addr, u32 type)
{
	struct trace_ksym *ksym = kzalloc(sizeof(*ksym), GFP_KERNEL);

	if (!ksym)
		return -ENOMEM;
	hw_breakpoint_init(&ksym->attr);
	ksym->attr.bp_addr = addr;
	ksym->attr.bp_len = watch_length(addr);
	ksym->attr.bp_type = type;
	ksym->event = register_wide_hw_breakpoint(&ksym->attr, ksym_hbp_handler, ksym);
	if (IS_ERR(ksym->event)) {
		int err = PTR_ERR(ksym->event);

		kfree(ksym);
		return err;
	}
	list_add_tail(&ksym->list, &ksym_filter);
	return 0;
}

/*
 * Watch a symbol for another type; it keeps its count. A type that the machine does not have changes nothing. When the
 * new breakpoint is refused for another reason, the old one comes back to the register that it has just left; only if
 * another user has taken that register meanwhile is the symbol not watched any more. 0 or the error of the new
 * registration. [ksym_tracer_mutex]
 */
static int change_ksym(struct trace_ksym *ksym, u32 type)
{
	struct perf_event_attr attr = ksym->attr;
	struct perf_event **event;

	attr.bp_type = type;
	if (arch_hw_breakpoint_check(&attr))
		return -EINVAL;
	unregister_wide_hw_breakpoint(ksym->event);
	event = register_wide_hw_breakpoint(&attr, ksym_hbp_handler, ksym);
	if (!IS_ERR(event)) {
		ksym->attr = attr;
		ksym->event = event;
		return 0;
	}
	ksym->event = register_wide_hw_breakpoint(&ksym->attr, ksym_hbp_handler, ksym);
	if (IS_ERR(ksym->event)) {
		list_del(&ksym->list); /* another user of breakpoints took the register meanwhile */
		kfree(ksym);
	}
	return PTR_ERR(event);
}

/* "rw-" to a type, "---" to 0. -EINVAL: anything else, execution too. */
static int parse_type(const char *op)
{
	if (strlen(op) != 3 || (op[0] != 'r' && op[0] != '-') || (op[1] != 'w' && op[1] != '-') || op[2] != '-')
		return -EINVAL;
	return (op[0] == 'r' ? HW_BREAKPOINT_R : 0) | (op[1] == 'w' ? HW_BREAKPOINT_W : 0);
}

static int set_ksym(unsigned long addr, u32 type)
{
	struct trace_ksym *ksym = find_ksym(addr);

	if (!ksym)
		return type ? add_ksym(addr, type) : -EINVAL;
	if (ksym->attr.bp_type == type)
		return -EINVAL;
	if (type)
		return change_ksym(ksym, type);
	drop_ksym(ksym);
	return 0;
}

/*
 * One symbol a write: "name:rw-" watches, "name:---" ends it; "module:name:rw-" for a symbol of a module. Nothing,
 * "0" and "*:---" end all. -EINVAL also for what is watched like that already, and "---" for what is not watched.
 */
static int ksym_trace_filter_store(char *text, void *data)
{
	char *op = strrchr(text, ':');
	unsigned long addr;
	int type;

	if (!*text || !strcmp(text, "0") || !strcmp(text, "*:---")) {
		drop_all();
		return 0;
	}
	if (!op)
		return -EINVAL;
	*op++ = 0;
	type = parse_type(op);
	if (type < 0)
		return -EINVAL;
	mutex_lock(&module_mutex); /* a module whose symbol is found stays until its breakpoint can be seen */
	addr = kallsyms_lookup_name(text);
	mutex_lock(&ksym_tracer_mutex);
	type = addr ? set_ksym(addr, type) : -EINVAL;
	mutex_unlock(&ksym_tracer_mutex);
	mutex_unlock(&module_mutex);
	return type;
}

/* Memory goes, of init or all, and what is watched next at its address would be somebody else's. [module_mutex] */
static void ksym_module_frees(struct module *mod)
{
	struct trace_ksym *ksym, *next;

	mutex_lock(&ksym_tracer_mutex);
	list_for_each_entry_safe(ksym, next, &ksym_filter, list)
		if (module_frees(mod, ksym->attr.bp_addr))
			drop_ksym(ksym);
	mutex_unlock(&ksym_tracer_mutex);
}
static const struct module_notifier ksym_notifier = {.live = ksym_module_frees, .going = ksym_module_frees};
REGISTER_MODULE_NOTIFIER(ksym_notifier);

static int ksym_trace_filter_show(struct seq_file *m, void *data)
{
	struct trace_ksym *ksym;

	mutex_lock(&ksym_tracer_mutex);
	list_for_each_entry(ksym, &ksym_filter, list)
		seq_printf(m, "%pS:%s\n", (void *)(unsigned long)ksym->attr.bp_addr,
			   type_text(ksym->attr.bp_type, true));
	mutex_unlock(&ksym_tracer_mutex);
	return 0;
}
TRACEFS_TEXT_FILE(ksym_trace_filter, "ksym_trace_filter", 0644, TRACEFS_TOP, ksym_trace_filter_show,
		  ksym_trace_filter_store);

/* The form is right, so the name is not, or the symbol is watched, or not, as the text asks for. */
static void explain_ksym(struct trace_refusal *r)
{
	const char *op = strrchr(r->text, ':');
	int type = op ? parse_type(op + 1) : -EINVAL;
	char name[KSYM_NAME_LEN];
	struct trace_ksym *ksym;
	unsigned long addr;

	if (r->error != EINVAL || type < 0 || op - r->text >= (long)sizeof(name))
		return;
	strscpy(name, r->text, op - r->text + 1);
	addr = kallsyms_lookup_name(name);
	if (!addr) {
		r->quote(r, "the kernel has no variable or function ", name, " (/proc/kallsyms)");
		return;
	}
	mutex_lock(&ksym_tracer_mutex);
	ksym = find_ksym(addr);
	if (ksym && ksym->attr.bp_type == (u32)type)
		r->quote(r, "", name, " is watched in this way already");
	else if (!ksym && !type)
		r->quote(r, "", name, " is not watched");
	mutex_unlock(&ksym_tracer_mutex);
}
static const struct trace_hint ksym_trace_filter_hint = {
	.subject = "ksym_trace_filter",
	.takes = "symbol:rw-, symbol:-w- or (aarch64) symbol:r-- to watch a variable, symbol:--- to end that, 0: all",
	.explain = explain_ksym,
};
REGISTER_TRACE_HINT(ksym_trace_filter_hint);

/* The file ksym_profile: how often each symbol was accessed. */
static int ksym_profile_show(struct seq_file *m, void *data)
{
	char name[KSYM_NAME_LEN];
	struct trace_ksym *ksym;

	seq_printf(m, "  %-12s  %-36s %15s\n", "Access Type", "Symbol", "Counter");
	seq_printf(m, "  %-12s  %-36s %15s\n", "-----------", "------", "-------");
	mutex_lock(&ksym_tracer_mutex);
	list_for_each_entry(ksym, &ksym_filter, list) {
		if (!kallsyms_lookup(ksym->attr.bp_addr, NULL, NULL, name))
			strscpy(name, "<NA>", sizeof(name));
		seq_printf(m, "  %-12s  %-36s %15lld\n", type_text(ksym->attr.bp_type, false), name,
			   (long long)atomic64_read(&ksym->counter));
	}
	mutex_unlock(&ksym_tracer_mutex);
	return 0;
}
TRACEFS_TEXT_FILE(ksym_profile, "ksym_profile", 0444, TRACEFS_TOP, ksym_profile_show, NULL);

/* 0. The buffer begins empty, as with Linux's. */
static int ksym_trace_init(struct trace_array *tr)
{
	tracing_reset(tr, RING_BUFFER_ALL_CPUS);
	smp_store_release(&ksym_trace_array, tr);
	return 0;
}

/* The handlers are gone when this returns, so no record comes later. */
static void ksym_trace_reset(struct trace_array *tr)
{
	WRITE_ONCE(ksym_trace_array, NULL);
	drop_all();
}

static void ksym_trace_print_header(struct seq_file *s, struct trace_iterator *iter)
{
	seq_puts(s, "#       TASK-PID   CPU#      Symbol                    Type    Function\n"
		    "#          |        |          |                        |         |\n");
}

/* "        cat-1408  [001] jiffies+0x0/0x8 RW tick_periodic+0x10/0x40": the whole line is ours, without time. */
static bool ksym_trace_print_line(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ksym_trace_entry *field = (const void *)iter->ent;

	if (iter->ent->type != TRACE_KSYM)
		return false;
	seq_printf(s, "%11s-%-5d [%03d] %pS %s %pS\n", field->cmd, iter->ent->pid, iter->cpu, (void *)field->addr,
		   type_text(field->type, false), (void *)field->ip);
	return true;
}

static const struct tracer ksym_tracer = {
	.name = "ksym_tracer",
	.init = ksym_trace_init,
	.reset = ksym_trace_reset,
	.print_header = ksym_trace_print_header,
	.print_line = ksym_trace_print_line,
};
REGISTER_TRACER(ksym_tracer);

/* In a trace that another tracer shows: behind the usual columns. */
static void trace_ksym_trace(struct seq_file *s, struct trace_iterator *iter)
{
	const struct ksym_trace_entry *field = (const void *)iter->ent;

	seq_printf(s, "%pS %s %pS\n", (void *)field->addr, type_text(field->type, false), (void *)field->ip);
}

static const struct trace_event trace_ksym_event = {.type = TRACE_KSYM, .trace = trace_ksym_trace};
REGISTER_TRACE_EVENT(trace_ksym_event);
