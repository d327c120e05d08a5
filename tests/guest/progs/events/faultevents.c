/*
 * faultevents [-v] [STEP]...: dynamic events, and histograms, in which each allocation fails once (lib/faults.h). A
 * line that is refused must leave the file as it was.
 */
#include <faults.h>
#include <fcntl.h>

static char before[65536], after[65536];

static void read_into(char *to, const char *name)
{
	long n = 0, used = 0;
	int in = (int)CHECK_CALL(open(name, O_RDONLY));

	while ((n = read(in, to + used, sizeof(before) - 1 - used)) > 0)
		used += n;
	to[used] = 0;
	close(in);
}

static long append(const char *name, const char *text)
{
	return faults_write(name, text, O_APPEND);
}

/* The log of refused writes keeps the last ones, which are not always of the same size. */
static void clear_log(void)
{
	close((int)CHECK_CALL(open("error_log", O_WRONLY | O_TRUNC)));
}

/* ---- The line b is written to the file a, and c takes it back */

static void remember(const struct fault_step *s)
{
	read_into(before, s->a);
}

static void check_same(const struct fault_step *s)
{
	read_into(after, s->a);
	if (strcmp(before, after)) {
		check_failures++;
		printf("  %s was\n%s  and is\n%s", s->a, before, after);
	}
}

static long write_line(const struct fault_step *s)
{
	return append(s->a, s->b);
}

static void take_back(const struct fault_step *s)
{
	read_into(after, s->a);
	CHECK(strcmp(before, after) != 0);
	CHECK_CALL(append(s->a, s->c) < 0 ? -1 : 0);
	check_same(s);
}

#define LINE(file, text, back) \
	STEP(text, write_line, remember, take_back, check_same, .a = (file), .b = (text), .c = (back))
#define HIST(text) LINE("events/sched/sched_switch/trigger", "hist:" text, "!hist:" text)
#define ON(event)                                                                                                   \
	STEP(event " on", write_line, remember, take_back, check_same, .a = "events/off/" event "enable", .b = "1", \
	     .c = "0")
#define WAKING "events/sched/sched_waking/"
static const struct fault_step steps[] = {
	LINE("dynamic_events", "p:k/a vfs_read a=$arg1:u64 s=+0($arg2):string", "-:k/a"),
	LINE("dynamic_events", "r:k/a vfs_read a=$retval", "-:k/a"),
	LINE("dynamic_events", "f:k/a vfs_read a=$arg1", "-:k/a"),
	LINE("dynamic_events", "f:k/a vfs_read%return a=$retval", "-:k/a"),
	LINE("dynamic_events", "t:k/a sched_switch a=$arg2", "-:k/a"),
	LINE("dynamic_events", "e:k/a sched.sched_switch c=$next_comm:string if prev_pid > 3", "-:k/a"),
	LINE("dynamic_events", "p:k/a /bin/true:0x0", "-:k/a"),
	LINE("dynamic_events", "s:k u64 lat; pid_t pid; char comm[]; unsigned long[] stack", "-:k"),
	LINE("synthetic_events", "k u64 lat; pid_t pid; char comm[]", "!k"),
	/* Probes of events that are on. */
	LINE("dynamic_events", "p:on/p vfs_write a=$arg1", "-:on/p vfs_write"),
	LINE("dynamic_events", "f:on/f vfs_write a=$arg1", "-:on/f vfs_write"),
	ON("p/"),
	ON("r/"),
	ON("f/"),
	ON("fr/"),
	ON("t/"),
	ON("e/"),
	ON("u/"),
	ON(""),
	HIST("keys=next_pid,prev_comm,common_cpu:vals=prev_prio,next_prio:sort=next_pid"),
	HIST("keys=common_stacktrace:size=256 if prev_pid > 5"),
	HIST("name=named:keys=next_pid,common_pid.execname"),
	HIST("keys=common_pid.execname:t=common_timestamp.usecs"),
	HIST("keys=next_pid:l=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).pair($l,next_pid,next_comm)"),
	HIST("keys=next_pid:l=common_timestamp.usecs-$ts0:onmatch(sched.sched_waking).trace(pair,$l,pid,comm)"),
	HIST("keys=next_pid:l=common_timestamp.usecs-$ts0:onmax($l).save(prev_comm,prev_pid)"),
	HIST("keys=next_pid:l=common_timestamp.usecs-$ts0:onchange($l).snapshot()"),
	HIST("keys=next_pid:a=prev_prio*2+4/2,b=-(next_prio+1)"),
	LINE("events/sched/sched_switch/trigger", "enable_hist:sched:sched_waking", "!enable_hist:sched:sched_waking"),
};

/* Events that are there meanwhile, on or off. */
static const char *const events[] = {
	"p:on/p vfs_read a=$arg1",
	"f:on/f vfs_read a=$arg1",
	"p:off/p vfs_read",
	"p:off/p vfs_write",
	"r:off/r vfs_read $retval",
	"f:off/f vfs_*",
	"f:off/fr vfs_read%return a=$arg1 b=$retval",
	"t:off/t sched_switch a=$arg1",
	"e:off/e sched.sched_waking p=$pid if pid > 1",
	"p:off/u /bin/true:0x0",
	"s:pair u64 lat; pid_t pid; char[16] comm",
};

int main(int argc, char **argv)
{
	CHECK_CALL(CALL(chdir, "/sys/kernel/tracing"));
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		CHECK_CALL(append("dynamic_events", events[i]) < 0 ? -1 : 0);
	CHECK_CALL(append("events/on/enable", "1") < 0 ? -1 : 0);
	CHECK_CALL(append(WAKING "trigger", "hist:keys=pid:ts0=common_timestamp.usecs") < 0 ? -1 : 0);
	faults_before_look = clear_log;
	memset(before, 1, sizeof(before));
	memset(after, 1, sizeof(after));
	return faults_main(argc, argv, steps, sizeof(steps) / sizeof(*steps));
}
