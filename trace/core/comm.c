/*
 * Names and processes of traced tasks. A record carries only the pid. While anything is traced, each switch notes the
 * names of its two tasks in a table of the most recent ones.
 */
#include <fs/libfs.h>
#include <kernel/panic.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <mm/vmalloc.h>
#include <sched/sched.h>
#include <trace/events/sched.h>
#include <trace/trace_comm.h>

#include "tracefs/refused.h"
#include "tracefs/tracefs.h"
#include "tracer.h"

#define PID_MAX_DEFAULT	       32768
#define SAVED_CMDLINES_DEFAULT 128

/* Locks: l cmdline_lock, a bare lock. Code that records only tries it, because it may have interrupted the holder. */
struct saved_cmdlines {
	u16 pid_to_slot[PID_MAX_DEFAULT]; /* [l] number of the pid's slot plus 1; 0: its name is not kept */
	unsigned num;			  /* [I] */
	unsigned next;			  /* [l] slot to use next */
	struct saved_cmdline {
		char comm[TASK_COMM_LEN];
		int pid;		      /* 0: never used */
	} __attribute__((aligned(8))) slot[]; /* [l] */
};
static struct saved_cmdlines *saved; /* [l, written under trace_types_lock too] */
static spinlock_t cmdline_lock = __SPIN_LOCK_UNLOCKED;
static int cmdline_users; /* [trace_types_lock] */
/* Process of each pid, 0: not known. Made when the option record-tgid is first set, and kept. [trace_types_lock; a] */
static u16 *tgids;
static int tgid_users; /* arrays with that option. [trace_types_lock; read by anybody] */

/* A table of `num` names, empty. NULL when out of memory. */
static struct saved_cmdlines *cmdlines_alloc(unsigned num)
{
	struct saved_cmdlines *s = kvzalloc(sizeof(*s) + num * sizeof(s->slot[0]), GFP_KERNEL | __GFP_NOWARN);

	if (s)
		s->num = num;
	return s;
}

/*
 * A task is marked with the round in which it was noted (task->comm_noted). As long as the round lasts, and the task's
 * name does not change, there is nothing to note. A round ends when any task's note is lost, or when more must be
 * noted (record-tgid).
 */
static u32 trace_comm_round = 1; /* [a] not 0 */
struct static_key trace_comm_key;

/* All marks are void from now on. 0 is the mark of a task that was never noted, so a count that wraps leaves it out. */
static void begin_round(void)
{
	if (!__atomic_add_fetch(&trace_comm_round, 1, __ATOMIC_RELEASE))
		__atomic_add_fetch(&trace_comm_round, 1, __ATOMIC_RELEASE);
}

/*
 * [l] Write the task's name into its slot. A task without a slot gets the one that was filled longest ago. The task
 * that loses it must be noted again when it next runs, so a new round begins.
 */
static void save_comm(struct saved_cmdlines *s, const struct task_struct *task)
{
	unsigned slot = s->pid_to_slot[task->pid];

	if (!slot) {
		struct saved_cmdline *next = &s->slot[s->next];

		slot = s->next + 1;
		s->next = slot == s->num ? 0 : slot;
		if (next->pid) {
			s->pid_to_slot[next->pid] = 0;
			begin_round();
		}
		next->pid = task->pid;
		s->pid_to_slot[task->pid] = slot;
	}
	memcpy(s->slot[slot - 1].comm, task->comm, TASK_COMM_LEN);
}

/* The table of processes has a word for each possible pid, so no entry is ever pushed out. */
static void record_tgid(const struct task_struct *task)
{
	u16 *known = smp_load_acquire(&tgids); /* the option may be seen set before the table is */

	if (known && task->pid < PID_MAX_DEFAULT)
		WRITE_ONCE(known[task->pid], task->tgid);
}

/*
 * One more array, or one less, has the option record-tgid. The table is kept for records that are in the buffers. 0,
 * -ENOMEM. [t]
 */
int trace_record_tgids(bool on)
{
	u16 *new;

	if (on && !tgids) {
		new = kvzalloc(PID_MAX_DEFAULT * sizeof(*new), GFP_KERNEL);
		if (!new)
			return -ENOMEM;
		smp_store_release(&tgids, new);
	}
	WRITE_ONCE(tgid_users, tgid_users + (on ? 1 : -1));
	begin_round();
	return 0;
}

int trace_find_tgid(int pid)
{
	const u16 *known = smp_load_acquire(&tgids);

	return known && pid > 0 && pid < PID_MAX_DEFAULT ? READ_ONCE(known[pid]) : 0;
}

/* Only while some array has the option record-tgid. */
static void note_tgid(const struct task_struct *task)
{
	if (READ_ONCE(tgid_users))
		record_tgid(task);
}

/* Notes pid, name and process of the task. False: the lock was taken, and nothing was noted. Any context. */
static bool note_all(const struct task_struct *task)
{
	unsigned long flags;
	bool free;

	if (!task->pid || task->pid >= PID_MAX_DEFAULT)
		return true;
	note_tgid(task);
	raw_local_irq_save(flags);
	free = arch_spin_trylock(&cmdline_lock);
	if (free) {
		save_comm(saved, task);
		arch_spin_unlock(&cmdline_lock);
	}
	raw_local_irq_restore(flags);
	return free;
}

/*
 * The mark is set before the name is copied: if the name changes meanwhile, set_task_comm takes the mark away after
 * that. The round is read first: if a note is lost after that, the mark is of an old round. Without the lock there is
 * no note, so the mark is taken away.
 */
void tracing_record_cmdline(struct task_struct *task)
{
	u32 round = smp_load_acquire(&trace_comm_round);

	if (READ_ONCE(task->comm_noted) == round)
		return;
	WRITE_ONCE(task->comm_noted, round);
	smp_mb(); /* pairs with set_task_comm's barrier */
	if (!note_all(task))
		WRITE_ONCE(task->comm_noted, 0);
}

/*
 * The name that was noted for this pid, as trace and trace_pipe show it: "<...>" when it was not, or not any more;
 * "<idle>" for pid 0. Context: any but an NMI; the lock is held for a copy of 16 bytes. A dump that cannot get it shows
 * "<...>".
 */
void trace_find_cmdline(int pid, char comm[TASK_COMM_LEN])
{
	unsigned long flags;
	unsigned slot = 0;
	bool locked;

	if (!pid) {
		strscpy(comm, "<idle>", TASK_COMM_LEN);
		return;
	}
	if (pid < 0) {
		strscpy(comm, "<XXX>", TASK_COMM_LEN);
		return;
	}
	raw_local_irq_save(flags);
	locked = ring_buffer_dump_lock(&cmdline_lock);
	if (locked && saved && pid < PID_MAX_DEFAULT)
		slot = saved->pid_to_slot[pid];
	if (slot)
		memcpy(comm, saved->slot[slot - 1].comm, TASK_COMM_LEN);
	if (locked)
		arch_spin_unlock(&cmdline_lock);
	raw_local_irq_restore(flags);
	if (!slot)
		strscpy(comm, "<...>", TASK_COMM_LEN);
	comm[TASK_COMM_LEN - 1] = '\0'; /* noted while its task may have been changing it */
}

/* Note what the options ask for now: the name, or only the process. */
static void note_task(struct task_struct *task)
{
	if (READ_ONCE(global_trace.trace_flags) & TRACE_ITER(RECORD_CMD))
		tracing_record_cmdline(task);
	else
		note_tgid(task);
}

/* May anything be recorded? With only the top array its switch says so; an instance is assumed to record. */
static bool notes_wanted(void)
{
	return READ_ONCE(global_trace.list.next) != &global_trace.list || tracer_tracing_is_on(&global_trace);
}

/* A task is noted when it leaves and when it comes, as either may be what a record names. */
static noinline void note_switch(struct task_struct *prev, struct task_struct *next)
{
	if (!notes_wanted())
		return;
	note_task(prev);
	note_task(next);
}

/*
 * From the scheduler at each switch while anything is traced, with the runqueue locked: two comparisons when both are
 * noted.
 *
 * The scheduler marks tasks whose names are known.
 *
 * While records are made each switch notes the names of two tasks, in a table under cmdline_lock, and nearly always
 * finds them there. So a task has a mark, comm_noted: the round in which it was noted. As long as trace_comm_round is
 * that, a switch compares two words and is done.
 *
 * - A name changes. set_task_comm writes the name, then takes the mark away; a CPU that notes it sets the mark, then
 *   copies the name, with a full barrier between. If the noter's mark is there in the end, it was set after the other
 *   was taken away, so the copy has the new name.
 * - A note is lost: another task's note pushed it out, or the table was replaced. The mark of its task cannot be found
 *   quickly, so a new round begins, with release, after the entry is gone. A CPU that notes reads the round first: if
 *   the loss came later, its mark is of the old round.
 * - The lock is taken (it is only tried, because its holder may be the code that we interrupt): the mark goes, and the
 *   next switch tries again.
 * - More must be noted (record-tgid): a new round begins after the flag is set. While record-cmd is off no task is
 *   marked.
 * - A pid changes: a new task's mark is 0, and threads that exchange theirs in exec lose them.
 */
void trace_comm_switch(struct task_struct *prev, struct task_struct *next)
{
	u32 round = READ_ONCE(trace_comm_round);

	if (unlikely(prev->comm_noted != round || next->comm_noted != round))
		note_switch(prev, next);
}

/* A task that executes a program has another name from here on, and may end before any switch notes it. */
static void probe_process_exec(void *data, struct task_struct *p, pid_t old_pid, const char *filename)
{
	note_switch(p, p);
}

/* Put a table in force and return the one before. trace_types_lock held. */
static struct saved_cmdlines *exchange_saved(struct saved_cmdlines *new)
{
	struct saved_cmdlines *old;
	unsigned long flags;

	raw_local_irq_save(flags);
	arch_spin_lock(&cmdline_lock);
	old = saved;
	saved = new;
	arch_spin_unlock(&cmdline_lock);
	begin_round();
	raw_local_irq_restore(flags);
	return old;
}

void trace_cmdline_init(void)
{
	saved = cmdlines_alloc(SAVED_CMDLINES_DEFAULT);
	if (!saved)
		panic("tracing: no memory for the names of tasks");
}

/*
 * One more user of names: a tracer, or an event that is on. The first one registers the probe and switches the call in
 * the scheduler on, both of which take effect with the caller's next trace_events_complete() or tracepoint_switch(). 0,
 * -ENOMEM. [t]
 */
int tracing_start_cmdline_record_later(void)
{
	int ret = 0;

	if (!cmdline_users)
		ret = tracepoint_probe_register_later(&__tracepoint_sched_process_exec, probe_process_exec, NULL);
	if (ret)
		return ret;
	if (!cmdline_users++)
		static_key_inc_later(&trace_comm_key);
	note_task(current);
	return 0;
}

void tracing_stop_cmdline_record_later(void)
{
	if (--cmdline_users)
		return;
	static_key_dec_later(&trace_comm_key);
	tracepoint_probe_unregister_later(&__tracepoint_sched_process_exec, probe_process_exec, NULL);
}

int tracing_start_cmdline_record(void)
{
	int ret = tracing_start_cmdline_record_later();

	tracepoint_switch();
	return ret;
}

void tracing_stop_cmdline_record(void)
{
	tracing_stop_cmdline_record_later();
	tracepoint_switch();
}

/*
 * Slots may change while they are shown: each name is looked up by its pid under the lock, so that the two belong
 * together.
 */
static int saved_cmdlines_show(struct seq_file *m, void *data)
{
	unsigned n;

	mutex_lock(&trace_types_lock);
	n = saved->num;
	for (unsigned i = 0; i < n; i++) {
		char comm[TASK_COMM_LEN];
		int pid = READ_ONCE(saved->slot[i].pid);

		if (!pid)
			continue;
		trace_find_cmdline(pid, comm);
		seq_printf(m, "%d %s\n", pid, comm);
	}
	mutex_unlock(&trace_types_lock);
	return 0;
}
TRACEFS_TEXT_FILE(saved_cmdlines, "saved_cmdlines", 0440, TRACEFS_TOP, saved_cmdlines_show, NULL);

static int saved_cmdlines_size_show(struct seq_file *m, void *data)
{
	mutex_lock(&trace_types_lock);
	seq_printf(m, "%u\n", saved->num);
	mutex_unlock(&trace_types_lock);
	return 0;
}

/* A new size begins with an empty table. */
static int saved_cmdlines_size_store(char *text, void *data)
{
	struct saved_cmdlines *new, *old;
	unsigned long num;
	int ret = kstrtoul(text, 10, &num);

	if (ret)
		return ret;
	if (!num || num > PID_MAX_DEFAULT)
		return -EINVAL;
	new = cmdlines_alloc(num);
	if (!new)
		return -ENOMEM;
	mutex_lock(&trace_types_lock);
	old = exchange_saved(new);
	mutex_unlock(&trace_types_lock);
	kvfree(old);
	return 0;
}
TRACEFS_NUMBER_FILE(saved_cmdlines_size, "saved_cmdlines_size", 0640, TRACEFS_TOP, saved_cmdlines_size_show,
		    saved_cmdlines_size_store);
TRACEFS_TAKES(saved_cmdlines_size, "saved_cmdlines_size", "a number of tasks, 1 to " __stringify(PID_MAX_DEFAULT));

/*
 * The first pid from `pid` on for which a process was noted. All that there could be are looked at, four at a time and
 * without a call for each: a tracer may make each call and each branch a hundred times as dear.
 */
static __always_inline unsigned next_noted(const u16 *known, unsigned pid)
{
	while (pid < PID_MAX_DEFAULT && !READ_ONCE(known[pid]))
		pid += pid % 4 || READ_ONCE(*(const u64 *)&known[pid]) ? 1 : 4;
	return pid;
}

static int saved_tgids_show(struct seq_file *m, void *data)
{
	const u16 *known = smp_load_acquire(&tgids);

	if (!known)
		return 0;
	for (unsigned pid = 0; (pid = next_noted(known, pid + 1)) < PID_MAX_DEFAULT;)
		seq_printf(m, "%u %u\n", pid, READ_ONCE(known[pid]));
	return 0;
}
TRACEFS_TEXT_FILE(saved_tgids, "saved_tgids", 0440, TRACEFS_TOP, saved_tgids_show, NULL);
