/*
 * mmiotrace of Linux 2.6.27 and later: each access of the kernel to a register of a device, with its value. The text is
 * Linux's, version 20070824, which programs read:
 *
 *	VERSION 20070824
 *	PCIDEV 0018 1af41003 b 0 fe000000 ...
 *	MAP 12.345678 3 0x9000000 0xffffffc000012000 0x1000 0x0 0
 *	R 4 12.345680 3 0x9000018 0x90 0xffffffc080035a10 14
 *	W 4 12.345681 3 0x9000000 0x41 0xffffffc080035a20 14
 *	MARK 12.345690 text of trace_marker
 *	UNMAP 12.345700 3 0x0 0
 *
 * kernel/mm/pages/ioremap.c takes the pages of all device mappings away while the tracer is selected, and calls us for
 * each access, which we make in its place. Unlike with Linux, mappings that were made before are traced as well (their
 * MAP lines come first), no CPU is switched off, and a line has the pid of the task that was running.
 *
 * Records are made in the fault of an access, which may have come from anywhere: as in any tracer of functions, only
 * the ring buffer is touched there. With tracing_on 0 accesses are still made by the fault, and not recorded.
 */
#include <arch/mem_insn.h>
#include <asm/ptrace.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <mm/kmmio.h>
#include <sched/sched.h>
#include <trace/mmiotrace.h>

#include "core/record.h"
#include "output/iter.h"
#include "output/output.h"

DECLARE_TABLE(mmiotrace_buses, struct mmiotrace_bus);

/* Linux's numbers (include/linux/mmiotrace.h). */
enum mm_io_opcode {
	MMIO_READ = 1,
	MMIO_WRITE = 2,
	MMIO_PROBE = 3,
	MMIO_UNPROBE = 4,
	MMIO_UNKNOWN_OP = 5,
};

static struct trace_array *mmio_trace_array; /* [trace_types_lock; read by faults, which are over before it ends] */
static bool mmio_lost_said;		     /* [trace_types_lock] the log has been told that records are lost */

/* ---- Records. Interrupts off; in any context but for maps, which are made in threads. */

static u64 mmio_now(void)
{
	return trace_clock_now(mmio_trace_array);
}

/* A record of an access, with the state that it was in. NULL: not recorded (off or full). */
static struct trace_mmiotrace_rw *reserve_rw(struct pt_regs *regs, u64 stamp)
{
	struct ring_buffer_per_cpu *buffer = mmio_trace_array->cpu_data[smp_processor_id()].buffer;
	struct ring_buffer_event *event = ring_buffer_reserve(buffer, sizeof(struct trace_mmiotrace_rw), stamp);
	struct trace_mmiotrace_rw *entry;

	if (!event)
		return NULL;
	entry = ring_buffer_event_data(event);
	trace_fill(&entry->ent, TRACE_MMIO_RW, current, preempt_count(), arch_local_save_flags());
	if (interrupts_enabled(regs))
		entry->ent.flags &= ~TRACE_FLAG_IRQS_OFF;
	return entry;
}

static void commit_rw(void)
{
	ring_buffer_commit(mmio_trace_array->cpu_data[smp_processor_id()].buffer);
}

/*
 * An instruction at pc has made the `n` accesses `done`, at the time `stamp`. A record for each. In the fault of the
 * access.
 */
static void mmio_made(const struct kmmio_map *map, const struct mem_access *done, unsigned n, struct pt_regs *regs,
		      unsigned long pc, u64 stamp)
{
	for (; n; n--, done++) {
		struct trace_mmiotrace_rw *entry = reserve_rw(regs, stamp);

		if (!entry)
			continue;
		entry->phys = kmmio_phys(map, done->address);
		entry->value = done->value;
		entry->pc = pc;
		entry->map_id = map->id;
		entry->opcode = done->write ? MMIO_WRITE : MMIO_READ;
		entry->width = done->bytes;
		commit_rw();
	}
}

/*
 * The instruction could not be decoded. The record's value is the instruction's first bytes, and
 * its width is how many there are. In the fault of the access, so the message is printed later.
 */
static void mmio_unknown(const struct kmmio_map *map, unsigned long address, struct pt_regs *regs, u64 stamp)
{
	unsigned long pc = instruction_pointer(regs), value = 0;
	struct trace_mmiotrace_rw *entry;
	u8 bytes[4];
	unsigned n = arch_mem_insn_bytes((const void *)pc, bytes);

	for (unsigned i = 0; i < n; i++)
		value = value << 8 | bytes[i];
	printk_deferred(KERN_WARNING "mmiotrace: %pS accesses 0x%lx by an instruction that is not known (%0*lx): its "
				     "page is not traced any more\n",
			(void *)pc, (unsigned long)kmmio_phys(map, address), 2 * (int)n, value);
	entry = reserve_rw(regs, stamp);
	if (!entry)
		return;
	entry->phys = kmmio_phys(map, address);
	entry->value = value;
	entry->pc = pc;
	entry->map_id = map->id;
	entry->opcode = MMIO_UNKNOWN_OP;
	entry->width = n;
	commit_rw();
}

/*
 * kmmio_watcher.access. An instruction that is not known, or whose operand does not lie where the access faulted, was
 * decoded wrongly: the page comes back, and the instruction is tried again.
 */
static void mmio_access(const struct kmmio_map *map, struct pt_regs *regs, unsigned long address, bool told)
{
	unsigned long pc = instruction_pointer(regs);
	struct mem_access done[MEM_INSN_ACCESSES];
	u64 stamp = told ? mmio_now() : 0;
	struct mem_insn insn;
	void *at = NULL;
	unsigned n;

	if (!arch_mem_insn_decode(&insn, regs, (const void *)pc) && address - insn.address < insn.bytes)
		at = kmmio_alias(map, insn.address, insn.bytes);
	if (!at) {
		kmmio_give_back(map, address);
		if (told)
			mmio_unknown(map, address, regs, stamp);
		return;
	}
	n = arch_mem_insn_emulate(&insn, regs, at, done);
	if (told)
		mmio_made(map, done, n, regs, pc, stamp);
}

/* A mapping begins (MMIO_PROBE) or ends. In threads; preemption is off because trace_reserve() expects that. */
static void record_map(const struct kmmio_map *map, enum mm_io_opcode opcode)
{
	struct ring_buffer_event *event;
	struct trace_mmiotrace_map *entry;

	preempt_disable_notrace();
	entry = trace_reserve(mmio_trace_array, &event, TRACE_MMIO_MAP, sizeof(*entry));
	if (entry) {
		entry->phys = map->phys;
		entry->virt = kmmio_virt(map);
		entry->len = map->len;
		entry->map_id = map->id;
		entry->opcode = opcode;
		trace_commit(mmio_trace_array);
	}
	preempt_enable_notrace();
}

static void mmio_mapped(const struct kmmio_map *map)
{
	record_map(map, MMIO_PROBE);
}

static void mmio_unmapped(const struct kmmio_map *map)
{
	record_map(map, MMIO_UNPROBE);
}

static const struct kmmio_watcher mmio_watcher = {
	.mapped = mmio_mapped,
	.unmapped = mmio_unmapped,
	.access = mmio_access,
};

/* 0, -ENOMEM. The buffer begins empty, as with Linux's. */
static int mmio_trace_init(struct trace_array *tr)
{
	int err = tracing_start_cmdline_record();

	if (err)
		return err;
	tracing_reset(tr, RING_BUFFER_ALL_CPUS);
	mmio_lost_said = false;
	mmio_trace_array = tr;
	err = kmmio_watch(&mmio_watcher);
	if (err)
		tracing_stop_cmdline_record();
	return err;
}

/* No access is being recorded when kmmio_unwatch() returns. */
static void mmio_trace_reset(struct trace_array *tr)
{
	kmmio_unwatch();
	tracing_stop_cmdline_record();
}

/* ---- Text */

/*
 * The version, and the devices of each bus. A line that does not fit into the buffer any more is left out as a whole.
 */
static void mmio_print_head(struct seq_file *s, struct trace_iterator *iter)
{
	const struct mmiotrace_bus *bus;

	seq_puts(s, "VERSION 20070824\n");
	for_each_in_table(mmiotrace_buses, bus) {
		size_t before = s->count;

		for (unsigned n = 0; bus->show(s, n) && !seq_has_overflowed(s); n++)
			before = s->count;
		if (seq_has_overflowed(s))
			s->count = before;
	}
}

/* "%lu.%06lu" and a blank, of seconds, rounded to microseconds. */
static void print_stamp(struct seq_file *s, const struct trace_iterator *iter)
{
	unsigned long us = (iter->ts + 500) / 1000;

	seq_printf(s, "%lu.%06lu ", us / 1000000, us % 1000000);
}

/* "R 4 12.345680 3 0x9000018 0x90 0xffffffc080035a10 14"; an instruction that is not known shows its bytes. */
static void mmio_print_rw(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_mmiotrace_rw *field = (const void *)iter->ent;

	if (field->opcode == MMIO_UNKNOWN_OP)
		seq_puts(s, "UNKNOWN ");
	else
		seq_printf(s, "%c %d ", field->opcode == MMIO_READ ? 'R' : 'W', field->width);
	print_stamp(s, iter);
	seq_printf(s, "%d 0x%llx ", field->map_id, (unsigned long long)field->phys);
	if (field->opcode == MMIO_UNKNOWN_OP)
		for (unsigned i = field->width; i--;)
			seq_printf(s, "%02lx%c", (unsigned long)(field->value >> 8 * i) & 0xff, i ? ',' : ' ');
	else
		seq_printf(s, "0x%lx ", field->value);
	seq_printf(s, "0x%lx %d\n", field->pc, iter->ent->pid);
}

/* The program counter is 0, as in Linux: a mapping is not made by the instruction that wants it. */
static void mmio_print_map(struct seq_file *s, struct trace_iterator *iter)
{
	const struct trace_mmiotrace_map *field = (const void *)iter->ent;

	seq_puts(s, field->opcode == MMIO_PROBE ? "MAP " : "UNMAP ");
	print_stamp(s, iter);
	seq_printf(s, "%d ", field->map_id);
	if (field->opcode == MMIO_PROBE)
		seq_printf(s, "0x%llx 0x%lx 0x%lx ", (unsigned long long)field->phys, field->virt, field->len);
	seq_printf(s, "0x0 %d\n", iter->ent->pid);
}

/* A message, of trace_marker or of the kernel. Other records have no form that readers know, so they print nothing. */
static void mmio_print_mark(struct seq_file *s, struct trace_iterator *iter)
{
	size_t before = s->count;

	seq_puts(s, "MARK ");
	print_stamp(s, iter);
	if (!trace_print_message(s, iter))
		s->count = before;
}

/* Each record has a line of Linux's, or none. */
static bool mmio_print_line(struct seq_file *s, struct trace_iterator *iter)
{
	switch (iter->ent->type) {
	case TRACE_MMIO_RW:
		mmio_print_rw(s, iter);
		break;
	case TRACE_MMIO_MAP:
		mmio_print_map(s, iter);
		break;
	default:
		mmio_print_mark(s, iter);
	}
	return true;
}

/* A gap in the records of a CPU, as Linux's readers know it. */
static void mmio_print_lost(struct seq_file *s, struct trace_iterator *iter)
{
	if (iter->lost_events == ~0UL)
		seq_puts(s, "MARK 0.000000 Lost events.\n");
	else
		seq_printf(s, "MARK 0.000000 Lost %lu events.\n", iter->lost_events);
	if (mmio_lost_said || iter->atomic)
		return;
	mmio_lost_said = true;
	pr_warn("mmiotrace has lost events.\n");
}

static const struct tracer mmio_tracer = {
	.name = "mmiotrace",
	.init = mmio_trace_init,
	.reset = mmio_trace_reset,
	.pipe_open = mmio_print_head,
	.print_header = mmio_print_head,
	.print_line = mmio_print_line,
	.print_lost = mmio_print_lost,
};
REGISTER_TRACER(mmio_tracer);

/* In a trace that another tracer shows: behind the usual columns. */
static const struct trace_event trace_mmio_rw_event = {.type = TRACE_MMIO_RW, .trace = mmio_print_rw};
static const struct trace_event trace_mmio_map_event = {.type = TRACE_MMIO_MAP, .trace = mmio_print_map};
REGISTER_TRACE_EVENT(trace_mmio_rw_event);
REGISTER_TRACE_EVENT(trace_mmio_map_event);
