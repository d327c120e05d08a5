/*
 * What lab ring is graded with: writes to a ring buffer of its own, and keeps its own account of what it wrote. A
 * command is written to debugfs's lab/ring, and the file then says what came of it:
 *
 *	steps SEED PAGES OVERWRITE N	N steps at random: writes of all lengths, writes inside of writes, time that
 *					jumps, discards, reads. The grader computes the same steps
 *					(labs/05-ring/checks.py). A line every LOOK_EVERY steps: counts, and a sum of
 *					all records that were read
 *	irq SEED OVERWRITE N		N rounds in which the timer's interrupt writes inside of a task's writes,
 *					wherever it comes: rounds, interrupts inside of a write, written, refused, read,
 *					errors
 *	cost N				nanoseconds of N rounds: a write around a long one, and reading both
 */
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/preempt.h>
#include <time/clock.h>
#include <time/hrtimer.h>
#include <trace/ring_buffer.h>

#define LOOK_EVERY 25
#define MAX_LOOKS  200
#define MAX_OPEN   6
#define MAX_DRAIN  100000
#define MIN_LENGTH sizeof(struct record)

/* What a record holds: whose it is, its number, and bytes that follow from these. */
struct record {
	u32 id;
	u16 length, depth;
	u8 fill[];
};

struct look {
	u64 entries, overrun, commit_overrun, dropped, read, sum;
};

/* Of the command that runs or ran last. [the grader writes one at a time] */
static struct lab {
	struct trace_buffer *buffer;
	struct ring_buffer_per_cpu *cpu_buffer;
	int cpu;
	u64 random, now;
	u64 sum, read, lost; /* of what was read */
	u32 next_id[2];	     /* the number of the next record of the task, and of the interrupt */
	u64 written[2], refused[2];
	u32 wanted[2]; /* the least number that may be read next */
	u64 last_ts, errors;
	const char *error;
	bool any_gap; /* records may be missing */
	volatile bool inside, fired;
	u64 hits, rounds, took;
	unsigned nr_looks;
	struct look look[MAX_LOOKS];
} lab;

static u64 lab_random(u64 n)
{
	lab.random = lab.random * 6364136223846793005ull + 1442695040888963407ull;
	return (lab.random >> 33) % n;
}

static void lab_error(const char *what)
{
	if (!lab.errors++)
		lab.error = what;
}

static void fill(struct ring_buffer_event *event, u32 id, unsigned length, unsigned depth)
{
	struct record *r = ring_buffer_event_data(event);

	r->id = id;
	r->length = length;
	r->depth = depth;
	memset(r->fill, (u8)(id * 7 + depth), length - MIN_LENGTH);
}

static bool is_whole(struct ring_buffer_event *event)
{
	struct record *r = ring_buffer_event_data(event);

	if (r->length < MIN_LENGTH || r->length > RB_MAX_EVENT || r->depth > 1 ||
	    ring_buffer_event_length(event) != ALIGN(r->length, 4))
		return false;
	for (unsigned i = 0; i < r->length - MIN_LENGTH; i++)
		if (r->fill[i] != (u8)(r->id * 7 + r->depth))
			return false;
	return true;
}

/* ---- steps */

static struct {
	struct ring_buffer_event *event[MAX_OPEN];
	unsigned depth;
} open;

static void add(u64 word)
{
	lab.sum = (lab.sum ^ word) * 0x100000001b3ull;
}

static bool lab_read(void)
{
	unsigned long lost = 0;
	u64 ts = 0;
	struct ring_buffer_event *event = ring_buffer_consume(lab.buffer, lab.cpu, &ts, &lost);

	if (!event)
		return false;
	lab.read++;
	add(is_whole(event) ? ((struct record *)ring_buffer_event_data(event))->id : ~0ull);
	add(ts);
	add(lost);
	return true;
}

static struct ring_buffer_event *lab_reserve(unsigned length)
{
	/* Its clock may have been read before another writer's, which has recorded since. */
	u64 ts = (lab.now += 4) - lab_random(16);
	struct ring_buffer_event *event = ring_buffer_reserve(lab.cpu_buffer, length, ts);

	if (event)
		fill(event, lab.next_id[0], length, 0);
	lab.next_id[0]++;
	return event;
}

static void lab_open(unsigned length)
{
	struct ring_buffer_event *event;

	if (open.depth == MAX_OPEN)
		return;
	event = lab_reserve(length);
	if (event)
		open.event[open.depth++] = event;
}

static void lab_close(bool discard)
{
	if (!open.depth)
		return;
	open.depth--;
	if (discard)
		ring_buffer_discard(lab.cpu_buffer, open.event[open.depth]);
	else
		ring_buffer_commit(lab.cpu_buffer);
}

static void lab_write(unsigned length)
{
	if (lab_reserve(length))
		ring_buffer_commit(lab.cpu_buffer);
}

static void lab_step(void)
{
	u64 r = lab_random(16), n = lab_random(4096);

	switch (r) {
	case 0:
	case 1:
		lab_open(MIN_LENGTH + n % 100);
		break;
	case 2:
		lab_open(MIN_LENGTH + n % (RB_MAX_EVENT - MIN_LENGTH + 1));
		break;
	case 3:
	case 4:
		lab_close(false);
		break;
	case 5:
		lab_close(true);
		break;
	case 6:
		lab.now += 1ull << n % 45;
		break;
	case 7:
		for (u64 i = n % 40; i && lab_read(); i--)
			;
		break;
	case 8:
		lab_write(RB_MAX_EVENT);
		break;
	case 9:
	case 10:
		lab_write(113 + n % 1000);
		break;
	default:
		lab_write(MIN_LENGTH + n % 112);
	}
}

static void lab_look(void)
{
	if (lab.nr_looks == MAX_LOOKS)
		return;
	lab.look[lab.nr_looks++] = (struct look){
		ring_buffer_entries_cpu(lab.buffer, lab.cpu),
		ring_buffer_overrun_cpu(lab.buffer, lab.cpu),
		ring_buffer_commit_overrun_cpu(lab.buffer, lab.cpu),
		ring_buffer_dropped_events_cpu(lab.buffer, lab.cpu),
		lab.read,
		lab.sum,
	};
}

/* At the end all is closed and read. */
static void lab_steps(u64 n)
{
	open.depth = 0;
	for (u64 i = 1; i <= n; i++) {
		lab_step();
		if (i % LOOK_EVERY == 0)
			lab_look();
	}
	while (open.depth)
		lab_close(false);
	for (int i = 0; i < MAX_DRAIN && lab_read(); i++)
		;
	lab_look();
}

/* ---- irq */

/* A write as a tracer does it: nothing keeps interrupts out. */
static void write_now(unsigned depth, unsigned length)
{
	struct ring_buffer_event *event;

	lab.inside = true;
	event = ring_buffer_reserve(lab.cpu_buffer, length, sched_clock());
	if (event) {
		fill(event, lab.next_id[depth]++, length, depth);
		ring_buffer_commit(lab.cpu_buffer);
		lab.written[depth]++;
	} else {
		lab.refused[depth]++;
	}
	lab.inside = false;
}

static enum hrtimer_restart lab_timer(struct hrtimer *timer)
{
	bool inside = lab.inside;

	lab.hits += inside;
	for (int n = lab_random(4) ? 1 : 3; n; n--)
		write_now(1, MIN_LENGTH + lab_random(lab_random(3) ? 60 : 1200));
	lab.inside = inside;
	lab.fired = true;
	return HRTIMER_NORESTART;
}

/* What was read must be whole, in the order of its depth, and not earlier than what was read before. */
static void look_at(struct ring_buffer_event *event, u64 ts)
{
	struct record *r = ring_buffer_event_data(event);

	if (!is_whole(event)) {
		lab_error("a record is torn");
		return;
	}
	if (lab.any_gap ? r->id < lab.wanted[r->depth] : r->id != lab.wanted[r->depth])
		lab_error("a record is lost, or there twice, or not in its order");
	lab.wanted[r->depth] = r->id + 1;
	if (ts < lab.last_ts)
		lab_error("time goes back");
	lab.last_ts = ts;
}

static void drain(void)
{
	struct ring_buffer_event *event;
	u64 ts = 0;

	for (int i = 0; i < MAX_DRAIN && (event = ring_buffer_consume(lab.buffer, lab.cpu, &ts, NULL)); i++) {
		lab.read++;
		look_at(event, ts);
	}
	if (lab.read + ring_buffer_overrun_cpu(lab.buffer, lab.cpu) != lab.written[0] + lab.written[1])
		lab_error("after a round, what was written is neither read nor counted as overrun");
}

/*
 * Few enough records that a buffer of eight pages takes all of them when it is read after each round. With overwriting
 * it has two, and is read after every fourth.
 */
static void lab_round(u64 i)
{
	struct hrtimer timer;

	hrtimer_init(&timer, lab_timer);
	lab.fired = false;
	hrtimer_start(&timer, sched_clock() + 400 + i * 7 % 1500);
	for (int n = 0; n < 6 && !lab.fired; n++)
		write_now(0, MIN_LENGTH + lab_random(n % 2 ? 100 : 1200));
	while (!lab.fired)
		cpu_relax();
	hrtimer_cancel(&timer);
	if (!lab.any_gap || i % 4 == 0)
		drain();
}

static void lab_irq(u64 n)
{
	for (lab.rounds = 0; lab.rounds < n; lab.rounds++)
		lab_round(lab.rounds);
	drain();
	lab_look();
}

/* ---- cost */

static void lab_cost(u64 n)
{
	u64 start = sched_clock();

	for (u64 i = 0; i < n; i++) {
		struct ring_buffer_event *outer = ring_buffer_reserve(lab.cpu_buffer, 24, i * 10);

		if (ring_buffer_reserve(lab.cpu_buffer, 400, i * 10 + 1))
			ring_buffer_commit(lab.cpu_buffer);
		if (outer)
			ring_buffer_commit(lab.cpu_buffer);
		while (ring_buffer_consume(lab.buffer, lab.cpu, NULL, NULL))
			lab.read++;
	}
	lab.took = sched_clock() - start;
}

/* ---- The file */

static int lab_run(const char *what, u64 a, u64 b, u64 c, u64 n)
{
	bool steps = !strcmp(what, "steps"), irq = !strcmp(what, "irq");
	u64 pages = steps ? b : irq && c ? 2 : 8;

	memset(&lab, 0, sizeof(lab));
	lab.random = a;
	lab.now = 16;
	lab.any_gap = c;
	lab.buffer = ring_buffer_alloc(pages * RB_DATA_SIZE, c ? RB_FL_OVERWRITE : 0);
	if (!lab.buffer)
		return -ENOMEM;
	preempt_disable();
	lab.cpu = smp_processor_id();
	lab.cpu_buffer = ring_buffer_cpu(lab.buffer, lab.cpu);
	ring_buffer_begin(lab.cpu_buffer, irq ? sched_clock() : 0);
	if (steps)
		lab_steps(n);
	else if (irq)
		lab_irq(n);
	else
		lab_cost(n);
	preempt_enable();
	ring_buffer_free(lab.buffer);
	return 0;
}

static int lab_store(char *text, void *data)
{
	const char *what = strsep(&text, " ");
	unsigned long number[4] = {};
	int nr = 0;

	for (char *word; nr < 4 && (word = strsep(&text, " ")); nr++)
		if (kstrtoul(word, 0, &number[nr]))
			return -EINVAL;
	if (!strcmp(what, "steps") && nr == 4)
		return lab_run(what, number[0], number[1], number[2], number[3]);
	if (!strcmp(what, "irq") && nr == 3)
		return lab_run(what, number[0], 0, number[1], number[2]);
	if (!strcmp(what, "cost") && nr == 1)
		return lab_run(what, 0, 0, 0, number[0]);
	return -EINVAL;
}

static int lab_show(struct seq_file *m, void *data)
{
	for (unsigned i = 0; i < lab.nr_looks; i++) {
		const struct look *l = &lab.look[i];

		seq_printf(m, "look: %lu %lu %lu %lu %lu %lu\n", l->entries, l->overrun, l->commit_overrun, l->dropped,
			   l->read, l->sum);
	}
	seq_printf(m, "lab: %lu %lu %lu %lu %lu %lu %lu\n", lab.rounds, lab.hits, lab.written[0] + lab.written[1],
		   lab.refused[0] + lab.refused[1], lab.read, lab.errors, lab.took);
	seq_printf(m, "error: %s\n", lab.error ?: "none");
	return 0;
}

static const struct text_file lab_file = {.path = "lab/ring", .mode = 0600, .show = lab_show, .store = lab_store};
REGISTER_DEBUGFS(lab_file);
