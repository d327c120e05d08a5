/*
 * The writers of the ring buffer's storms: what they write, and the signals that interrupt them. For
 * ring_buffer_smp_test.c, which has the readers and the storms.
 */
#pragma once

/* cmocka's assertions jump to the test's thread; most of ours fail in others. */
#define must(x)                                                                         \
	do {                                                                            \
		if (!(x)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x); \
			abort();                                                        \
		}                                                                       \
	} while (0)

#define CPUS   2
#define DEPTHS 4
/* Milliseconds that each storm blows at least; longer in a soak. */
#define STORM_MS (getenv("SOAK_MINUTES") ? 30000 : 400)

/* What a storm consists of at least. For each CPU: events written, interrupts and nmis that wrote, events
 * read, turns of the reader; and times that the storm's own disturbance came about. */
#define LEAST_WRITTEN	1000
#define LEAST_IRQS	20
#define LEAST_NMIS	20
#define LEAST_READ	500
#define LEAST_TURNS	100
#define LEAST_DISTURBED 20
/* Seconds of our own processor time that this may take beyond the storm's time: it is far less than one. */
#define PATIENCE 60

struct payload {
	u32 cpu, depth;
	u64 seq;
	u32 length;
	u32 fill[];
} __packed __aligned(4); /* as events are */

/* Locks: those of a CPU are its thread's and its signal handlers'. */
struct writer {
	struct ring_buffer_per_cpu *cpu_buffer;
	u64 random;
	u32 depth;
	u64 seq[DEPTHS];		  /* next number of each depth */
	u64 written, refused, irqs, nmis; /* [atomic] */
	pthread_t thread;
};

static struct trace_buffer *buffer, *other;
static struct writer writers[CPUS];
static int stop;      /* [atomic] */
static u64 disturbed; /* [atomic] in this storm */
/* Who uses events that he was handed keeps resets out, as the kernel's readers do. */
static pthread_mutex_t access_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct writer *self;
static _Thread_local bool testing_point;

static u64 next_random(u64 *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

static void count(u64 *what)
{
	__atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

static u64 clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* As a tracer does it, in whatever context. */
static void write_one(struct writer *w)
{
	/* A signal leaves all of this as it was, but for the random numbers, which do not mind. */
	u32 depth = w->depth++;
	u64 r = next_random(&w->random);
	unsigned length = r % 64 ? sizeof(struct payload) + (r >> 8) % 60 : sizeof(struct payload) + (r >> 8) % 4040;
	struct ring_buffer_event *event = ring_buffer_reserve(w->cpu_buffer, length, clock_ns());

	if (!event) {
		count(&w->refused);
	} else if (r % 16 == 1) {
		ring_buffer_discard(w->cpu_buffer, event);
	} else {
		struct payload *p = ring_buffer_event_data(event);

		p->cpu = w - writers;
		p->depth = depth;
		p->seq = w->seq[depth]++;
		p->length = length;
		for (unsigned i = 0; i < (length - sizeof(*p)) / 4; i++)
			p->fill[i] = p->seq * 31 + i;
		ring_buffer_commit(w->cpu_buffer);
		count(&w->written);
	}
	w->depth = depth;
}

/* Now and then an interrupt right here, or another thread's turn. */
void rb_test_point(int n)
{
	struct writer *w = self;
	u64 r;

	if (!w)
		return;
	r = next_random(&w->random);
	if (r % 64 == 0 && w->depth < DEPTHS && !testing_point)
		write_one(w);
	else if (r % 256 == 1)
		sched_yield();
}

static void write_in(u64 *counter)
{
	if (self->depth < DEPTHS) {
		write_one(self);
		count(counter);
	}
}

static void irq_writes(void *arg)
{
	if (self)
		write_in(&self->irqs);
}

static void nmi_writes(void *arg)
{
	if (self)
		write_in(&self->nmis);
}

/* A CPU that writes all the time; interrupts and nmis come where they like. */
static void *writer_main(void *arg)
{
	struct writer *w = arg;

	host_cpu_start(w - writers);
	self = w;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		write_one(w);
		/* About as often as inside a write: a thread that waits for its turn takes the interrupts
		 * that came meanwhile where it yielded. */
		if (next_random(&w->random) % 32 == 0)
			sched_yield();
	}
	/* No more interrupts: a signal that comes still finds no writer. */
	self = NULL;
	host_cpu_stop();
	return NULL;
}
