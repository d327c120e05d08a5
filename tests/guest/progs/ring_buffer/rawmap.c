/*
 * rawmap: a CPU's ring that programs map (mmap of per_cpu/cpuN/trace_pipe_raw). Records are markers "seq N" on CPU 0.
 * The working directory is tracefs or an instance, and nothing else records.
 */
#include <check.h>
#include <fcntl.h>
#include <posix.h>
#include <sys/ioctl.h>
#include <uapi/trace_mmap.h>

#define PAGE   4096ul
#define MISSED (1ul << 31) /* bits of a page's commit */
#define STORED (1ul << 30)
#define RAW    "per_cpu/cpu0/trace_pipe_raw"

/* A mapping of everything that there is. */
struct ring {
	int fd;
	volatile struct trace_buffer_meta *meta;
	char *data; /* sub-buffer 0 */
	unsigned long bytes;
};

static void *map_raw(int fd, unsigned long bytes, unsigned long at)
{
	return mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, (off_t)at);
}

static void must_not_map(int fd, int prot, int flags, unsigned long bytes, unsigned long at, int wanted)
{
	CHECK_ERRNO((long)mmap(NULL, bytes, prot, flags, fd, (off_t)at), wanted);
}

static struct ring ring_map(int fd)
{
	struct ring r = {.fd = fd};
	void *meta = map_raw(fd, PAGE, 0);

	if (!CHECK(meta != MAP_FAILED))
		_exit(1);
	r.meta = meta;
	r.bytes = r.meta->meta_page_size + (unsigned long)r.meta->subbuf_size * r.meta->nr_subbufs;
	CHECK_CALL(munmap(meta, PAGE));
	r.meta = map_raw(fd, r.bytes, 0);
	if (!CHECK((void *)r.meta != MAP_FAILED))
		_exit(1);
	r.data = (char *)r.meta + r.meta->meta_page_size;
	return r;
}

static void ring_unmap(struct ring *r)
{
	CHECK_CALL(munmap((void *)r->meta, r->bytes));
}

/* An empty ring of so many KiB in sub-buffers of so many KiB, mapped. */
static struct ring start(const char *kib, const char *subbuf_kib)
{
	check_put("buffer_subbuf_size_kb", subbuf_kib);
	check_put("buffer_size_kb", kib);
	check_put("trace", "");
	check_pin(0);
	return ring_map((int)CHECK_CALL(open(RAW, O_RDONLY | O_NONBLOCK)));
}

static void end(struct ring *r)
{
	ring_unmap(r);
	close(r->fd);
	check_put("buffer_subbuf_size_kb", "4");
}

static void mark(unsigned from, unsigned n)
{
	int fd = (int)CHECK_CALL(open("trace_marker", O_WRONLY));
	char text[32];

	for (unsigned i = from; i < from + n; i++) {
		snprintf(text, sizeof(text), "seq %06u\n", i);
		CHECK_EQ(write(fd, text, strlen(text)), (long)strlen(text));
	}
	close(fd);
}

static char *reader_page(const struct ring *r)
{
	return r->data + (unsigned long)r->meta->reader.id * r->meta->subbuf_size;
}

static unsigned long commit_of(const char *page)
{
	return __atomic_load_n((const unsigned long *)(page + 8), __ATOMIC_ACQUIRE);
}

static void get_reader(const struct ring *r)
{
	CHECK_CALL(ioctl(r->fd, TRACE_MMAP_IOCTL_GET_READER));
}

/* How many of "seq *next", ... stand in these bytes, in this order? *next moves on. */
static unsigned count_marks(const char *bytes, unsigned long n, unsigned *next)
{
	unsigned found = 0;
	char text[32];

	snprintf(text, sizeof(text), "seq %06u\n", *next);
	for (unsigned long at = 0; at + strlen(text) <= n; at++) {
		if (memcmp(bytes + at, text, strlen(text)))
			continue;
		found++;
		snprintf(text, sizeof(text), "seq %06u\n", ++*next);
	}
	return found;
}

/* Read all that there is, from mark *next on, page by page in place. How many marks, and in *pages how many pages. */
static unsigned read_marks(const struct ring *r, unsigned *next, unsigned *pages)
{
	unsigned long long before;
	unsigned found = 0;
	int last = -1;

	*pages = 0;
	do {
		before = r->meta->read;
		get_reader(r);
		if (r->meta->read == before)
			break;
		*pages += (int)r->meta->reader.id != last;
		last = (int)r->meta->reader.id;
		CHECK_EQ(commit_of(reader_page(r)), r->meta->reader.read);
		found += count_marks(reader_page(r) + 16, r->meta->reader.read, next);
	} while (r->meta->read != before);
	return found;
}

static bool all_zero(const char *bytes, unsigned long n)
{
	while (n && !*bytes)
		bytes++, n--;
	return !n;
}

/* ---- What is there */

static void layout_of(const char *kib, unsigned long subbuf)
{
	struct ring r = start("100", kib);

	CHECK_EQ(r.meta->meta_page_size, subbuf);
	CHECK_EQ(r.meta->meta_struct_len, 80);
	CHECK_EQ(r.meta->subbuf_size, subbuf);
	/* The ring, and the reader's. */
	CHECK_EQ(r.meta->nr_subbufs, (100 * 1024 + subbuf - 17) / (subbuf - 16) + 1);
	CHECK_EQ(r.meta->flags | r.meta->entries | r.meta->overrun | r.meta->read, 0);
	CHECK_EQ(r.meta->reader.id | r.meta->reader.read | r.meta->reader.lost_events, 0);
	CHECK(all_zero((char *)r.meta + 80, subbuf - 80));
	/* No byte of what the memory was before. The time of a sub-buffer is of the ring. */
	for (unsigned i = 0; i < r.meta->nr_subbufs; i++)
		CHECK(all_zero(r.data + i * subbuf + 8, subbuf - 8));
	get_reader(&r);
	CHECK_EQ(r.meta->reader.id, 0);
	end(&r);
}

/* Memory that was full of something is what the rings get. */
static void layout(void)
{
	static const char *const kib[] = {"4", "8", "64"};
	const unsigned long big = 32ul << 20;

	for (unsigned i = 0; i < ARRAY_SIZE(kib); i++) {
		char *dirt = mmap(NULL, big, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memset(dirt, 0xa5, big);
		CHECK_CALL(munmap(dirt, big));
		layout_of(kib[i], strtoul(kib[i], NULL, 10) * 1024);
	}
}

/* All marks come once and in order, over many sub-buffers of each size, and each page is read where it lies. */
static void records_of(const char *kib, unsigned wanted)
{
	struct ring r = start("512", kib);
	unsigned next = 0, pages, found = 0;

	for (unsigned i = 0; i < wanted; i += 2000) {
		mark(i, 2000);
		found += read_marks(&r, &next, &pages);
	}
	CHECK_EQ(found, wanted);
	CHECK_EQ(r.meta->entries, wanted);
	CHECK_EQ(r.meta->read, wanted);
	CHECK_EQ(r.meta->overrun, 0);
	end(&r);
}

static void records(void)
{
	records_of("4", 30000);
	records_of("8", 20000);
	records_of("128", 20000);
}

/* The reader may be on the writer's page: its commit and what counts as read grow with each call. */
static void grows(void)
{
	struct ring r = start("64", "4");
	unsigned next = 0, id;
	unsigned long last;

	mark(0, 1);
	get_reader(&r);
	id = r.meta->reader.id;
	CHECK_EQ(id, 1);
	last = commit_of(reader_page(&r));
	for (unsigned i = 1; i < 20; i++) {
		mark(i, 1);
		get_reader(&r);
		CHECK_EQ(r.meta->reader.id, id);
		CHECK_EQ(r.meta->read, i + 1);
		CHECK_RANGE(commit_of(reader_page(&r)), last + 12, last + 60);
		last = commit_of(reader_page(&r));
		CHECK_EQ(r.meta->reader.read, last);
	}
	CHECK_EQ(count_marks(reader_page(&r) + 16, last, &next), 20);
	end(&r);
}

/* Lost records are counted once, in the page that follows the gap. */
static void lost(void)
{
	struct ring r = start("16", "4");
	unsigned next, pages, found;
	unsigned long commit, missed;

	mark(0, 5000);
	get_reader(&r);
	commit = commit_of(reader_page(&r));
	missed = r.meta->reader.lost_events;
	CHECK(commit & MISSED);
	CHECK_RANGE(missed, 1, 4999);
	CHECK_EQ(missed, r.meta->overrun);
	if (commit & STORED) {
		memcpy(&commit, reader_page(&r) + 16 + r.meta->reader.read, sizeof(commit));
		CHECK_EQ(commit, missed);
	}
	next = (unsigned)missed;
	found = count_marks(reader_page(&r) + 16, r.meta->reader.read, &next);
	found += read_marks(&r, &next, &pages);
	CHECK_EQ(found + missed, 5000);
	CHECK_EQ(r.meta->reader.lost_events, 0);
	CHECK_EQ(r.meta->entries, 5000);
	end(&r);
}

/* `trace` is emptied under the reader. */
static void emptied(void)
{
	struct ring r = start("64", "4");
	unsigned next = 0, pages;

	mark(0, 300);
	get_reader(&r);
	check_put("trace", "");
	CHECK_EQ(r.meta->entries | r.meta->read | r.meta->reader.read, 0);
	CHECK_EQ(commit_of(reader_page(&r)), 0);
	mark(0, 300);
	CHECK_EQ(read_marks(&r, &next, &pages), 300);
	CHECK_EQ(r.meta->read, 300);
	end(&r);
}

/* read(2) and splice(2) beside it take copies: what is mapped stays the ring, page by page. */
static void beside(void)
{
	struct ring r = start("64", "4");
	unsigned next = 0, pages, found = 0;
	static char page[PAGE];
	int ends[2];

	CHECK_CALL(pipe(ends));
	for (unsigned round = 0; round < 30; round++) {
		mark(round * 300, 300);
		CHECK_EQ(vt_read(r.fd, page, PAGE), (long)PAGE);
		found += count_marks(page + 16, PAGE - 16, &next);
		CHECK_EQ(splice(r.fd, NULL, ends[1], NULL, PAGE, 0), (long)PAGE);
		CHECK_EQ(vt_read(ends[0], page, PAGE), (long)PAGE);
		found += count_marks(page + 16, PAGE - 16, &next);
		found += read_marks(&r, &next, &pages);
		CHECK_RANGE(pages, 1, 8);
	}
	CHECK_EQ(found, 30 * 300);
	CHECK_EQ(r.meta->read, 30 * 300);
	close(ends[0]);
	close(ends[1]);
	end(&r);
}

/* ---- What is refused */

static void refused(void)
{
	struct ring r = start("64", "8");
	int both = (int)CHECK_CALL(open(RAW, O_RDWR | O_NONBLOCK));
	unsigned long half = r.bytes / 2 & ~(PAGE - 1);

	must_not_map(r.fd, PROT_READ | PROT_WRITE, MAP_SHARED, PAGE, 0, EACCES);
	must_not_map(both, PROT_READ | PROT_WRITE, MAP_SHARED, PAGE, 0, EPERM);
	must_not_map(r.fd, PROT_READ | PROT_EXEC, MAP_SHARED, PAGE, 0, EPERM);
	must_not_map(r.fd, PROT_READ, MAP_PRIVATE, PAGE, 0, EPERM);
	must_not_map(r.fd, PROT_READ, MAP_SHARED, r.bytes + 1, 0, EINVAL);
	must_not_map(r.fd, PROT_READ, MAP_SHARED, PAGE, r.bytes, EINVAL);
	must_not_map(r.fd, PROT_READ, MAP_SHARED, 2 * PAGE + 1, r.bytes - 2 * PAGE, EINVAL);
	must_not_map(r.fd, PROT_READ, MAP_SHARED, PAGE, PAGE, EINVAL); /* in the middle of a sub-buffer */
	CHECK_EQ((long)map_raw(r.fd, 2 * PAGE, r.bytes - 2 * PAGE) == -1, false);
	CHECK_ERRNO(check_syscall(SYS_mprotect, (long)r.meta, (long)r.bytes, PROT_READ | PROT_WRITE, 0, 0, 0), EACCES);
	CHECK_ERRNO(check_syscall(SYS_mprotect, (long)r.meta, (long)r.bytes, PROT_READ | PROT_EXEC, 0, 0, 0), EACCES);
	/* It is one piece. */
	CHECK_ERRNO(check_syscall(SYS_mprotect, (long)r.meta, (long)half, PROT_NONE, 0, 0, 0), EINVAL);
	CHECK_ERRNO(munmap((char *)r.meta + half, r.bytes - half), EINVAL);
	CHECK_ERRNO(munmap((void *)r.meta, half), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_mremap, (long)r.meta, (long)r.bytes, (long)half, 0, 0, 0), EINVAL);
	CHECK_ERRNO(check_syscall(SYS_mremap, (long)r.meta, (long)r.bytes, (long)r.bytes * 2, 1, 0, 0), EFAULT);
	CHECK_ERRNO((long)mmap((char *)r.meta + half, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		    EINVAL);
	CHECK_EQ(r.meta->meta_struct_len, 80);
	CHECK_ERRNO(ioctl(r.fd, TRACE_MMAP_IOCTL_GET_READER + 1), ENOTTY);
	close(both);
	both = (int)CHECK_CALL(open("per_cpu/cpu1/trace_pipe_raw", O_RDONLY | O_NONBLOCK));
	CHECK_ERRNO(ioctl(both, TRACE_MMAP_IOCTL_GET_READER), ENODEV);
	close(both);
	both = (int)CHECK_CALL(open("per_cpu/cpu0/snapshot_raw", O_RDONLY | O_NONBLOCK));
	must_not_map(both, PROT_READ, MAP_SHARED, PAGE, 0, ENODEV);
	_exit(check_failures != 0); /* with all of it mapped */
}

/* The whole of it moves, and shows the same there. */
static void moved(void)
{
	struct ring r = start("64", "8");
	char *to = mmap(NULL, r.bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mark(0, 3);
	get_reader(&r);
	CHECK_EQ(check_syscall(SYS_mremap, (long)r.meta, (long)r.bytes, (long)r.bytes, 3, (long)to, 0), (long)to);
	r.data += to - (char *)r.meta;
	r.meta = (void *)to;
	CHECK_EQ(r.meta->read, 3);
	CHECK_EQ(commit_of(reader_page(&r)), r.meta->reader.read);
	end(&r);
}

/* Does the file refuse the text, with this errno? */
static void refuses(const char *name, const char *text, int wanted)
{
	int fd = (int)CHECK_CALL(open(name, O_WRONLY));

	if (wanted)
		CHECK_ERRNO(write(fd, text, strlen(text)), wanted);
	else
		CHECK_EQ(write(fd, text, strlen(text)), (long)strlen(text));
	close(fd);
}

#define TRIGGER "events/sched/sched_switch/trigger"

/* The shape of the ring, and its exchange: refused with EBUSY (1) or done (0). */
static void shape_changes(bool busy)
{
	int wanted = busy ? EBUSY : 0;

	refuses("buffer_size_kb", "128", wanted);
	refuses("per_cpu/cpu0/buffer_size_kb", "120", wanted);
	refuses("per_cpu/cpu1/buffer_size_kb", "120", 0);
	refuses("buffer_subbuf_size_kb", "16", wanted);
	refuses("snapshot", "1", wanted);
	refuses("per_cpu/cpu0/snapshot", "1", wanted);
	refuses(TRIGGER, "snapshot", wanted);
	refuses(TRIGGER, "hist:keys=next_pid:p=next_prio:onchange($p).snapshot()", wanted);
	refuses("set_ftrace_filter", "do_nanosleep:snapshot\n", wanted);
}

/* What was set by the function above. Then nothing takes a snapshot any more. */
static void shape_back(void)
{
	refuses(TRIGGER, "!snapshot", 0);
	refuses(TRIGGER, "!hist:keys=next_pid:p=next_prio:onchange($p).snapshot()", 0);
	refuses("set_ftrace_filter", "!do_nanosleep:snapshot\n", 0);
}

/* A mapped ring refuses other sizes and snapshots, and an array with a snapshot trigger refuses mappings. */
static void excludes(void)
{
	struct ring r = start("64", "4");

	shape_changes(true);
	refuses("current_tracer", "function", EBUSY);
	mark(0, 10);
	get_reader(&r);
	CHECK_EQ(r.meta->read, 10);
	ring_unmap(&r);
	CHECK_ERRNO(ioctl(r.fd, TRACE_MMAP_IOCTL_GET_READER), ENODEV);
	shape_changes(false);
	must_not_map(r.fd, PROT_READ, MAP_SHARED, PAGE, 0, EBUSY);
	check_sleep(1000000); /* a snapshot of one CPU leaves the other's part pending */
	refuses(TRIGGER, "!snapshot", 0);
	must_not_map(r.fd, PROT_READ, MAP_SHARED, PAGE, 0, EBUSY);
	shape_back();
	r = ring_map(r.fd);
	end(&r);
	refuses("snapshot", "0", 0);
}

/* ---- How long it lasts */

static struct ring shared_ring;

/* The area is not the child's. */
static void touch_in_child(void)
{
	CHECK_EQ(shared_ring.meta->meta_struct_len, 80);
}

static void map_in_child(void)
{
	struct ring r = ring_map((int)CHECK_CALL(open(RAW, O_RDONLY | O_NONBLOCK)));

	CHECK_EQ(r.meta->reader.id, shared_ring.meta ? 1 : 0);
}

/* A mapping outlives its descriptor and forks, and ends with its process; another one is of the same pages. */
static void life(void)
{
	int status;

	shared_ring = start("64", "64");
	close(shared_ring.fd);
	status = check_in_child(touch_in_child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	refuses("buffer_size_kb", "128", EBUSY);
	refuses("current_tracer", "function", EBUSY); /* it is open still */
	mark(0, 5);
	shared_ring.fd = (int)CHECK_CALL(open(RAW, O_RDONLY | O_NONBLOCK));
	get_reader(&shared_ring);
	CHECK_EQ(shared_ring.meta->read, 5);
	CHECK_EQ(check_in_child(map_in_child), 0);
	refuses("buffer_size_kb", "128", EBUSY);
	CHECK_EQ(shared_ring.meta->reader.id, 1);
	end(&shared_ring);
	shared_ring.meta = NULL;
	CHECK_EQ(check_in_child(map_in_child), 0);
	refuses("buffer_size_kb", "128", 0);
	refuses("current_tracer", "function", 0);
	refuses("current_tracer", "nop", 0);
}

/* Sub-buffers of each size come and go with all their pages touched, by exit and by munmap. */
static void touch_all(void)
{
	struct ring r = ring_map((int)CHECK_CALL(open(RAW, O_RDONLY | O_NONBLOCK)));
	unsigned long sum = 0;

	for (unsigned long at = 0; at < r.bytes; at += PAGE)
		sum += *(volatile unsigned *)((char *)r.meta + at);
	CHECK(sum > 0); /* the meta page is not empty */
	if (getpid() & 1)
		ring_unmap(&r);
}

static void comes_and_goes(void)
{
	static const char *const kib[] = {"4", "8", "32", "512"};

	check_put("buffer_size_kb", "600");
	for (unsigned i = 0; i < 40; i++) {
		check_put("buffer_subbuf_size_kb", kib[i % ARRAY_SIZE(kib)]);
		mark(0, 50);
		CHECK_EQ(check_in_child(touch_all), 0);
		CHECK_EQ(check_in_child(touch_all), 0);
	}
	check_put("buffer_subbuf_size_kb", "4");
}

/* ---- Waiting */

/* The call that waits, in a process of its own that is sent SIGUSR1 when it is to be interrupted. */
static void wait_for_reader(void)
{
	CHECK_EQ(ioctl(shared_ring.fd, TRACE_MMAP_IOCTL_GET_READER), 0);
}

static void on_signal(int sig)
{
}

static void be_interrupted(void)
{
	struct sigaction act = {.sa_handler = on_signal};

	sigaction(SIGUSR1, &act, NULL);
	CHECK_ERRNO(ioctl(shared_ring.fd, TRACE_MMAP_IOCTL_GET_READER), EINTR);
}

/* A child that runs f and sleeps in it. */
static pid_t sleeping_child(void (*f)(void))
{
	pid_t pid = check_fork();

	if (!pid) {
		f();
		_exit(check_failures != 0);
	}
	while (thread_state(pid, pid) != 'S')
		check_sleep(1000000);
	return pid;
}

/* As buffer_percent says, or until recording goes off. */
static void waits(void)
{
	pid_t pid;

	shared_ring = start("64", "4");
	CHECK_EQ(fcntl(shared_ring.fd, F_SETFL, 0), 0);
	check_put("buffer_percent", "0");
	pid = sleeping_child(wait_for_reader);
	mark(0, 1);
	CHECK_EQ(check_wait(pid), 0);
	CHECK_EQ(shared_ring.meta->read, 1);
	check_put("buffer_percent", "50");
	pid = sleeping_child(wait_for_reader);
	mark(1, 100);
	check_sleep(50000000);
	CHECK_EQ(thread_state(pid, pid), 'S'); /* less than half */
	mark(101, 1500);
	CHECK_EQ(check_wait(pid), 0);
	get_reader(&shared_ring);
	check_put("trace", "");
	pid = sleeping_child(wait_for_reader);
	check_put("tracing_on", "0");
	CHECK_EQ(check_wait(pid), 0);
	pid = sleeping_child(be_interrupted); /* it was off before: that is no reason */
	kill(pid, SIGUSR1);
	CHECK_EQ(check_wait(pid), 0);
	check_put("tracing_on", "1");
	end(&shared_ring);
}

/* ---- Cases that the script asks for */

/* Hold a mapping until killed, without a descriptor. */
static void hold(void)
{
	struct ring r = ring_map((int)CHECK_CALL(open(RAW, O_RDONLY)));

	close(r.fd);
	for (;;)
		check_sleep(1000000000);
}

/* One mark is there. */
static void of_cpu1(void)
{
	struct ring r = ring_map((int)CHECK_CALL(open("per_cpu/cpu1/trace_pipe_raw", O_RDONLY | O_NONBLOCK)));
	unsigned next = 0, pages;

	CHECK_EQ(read_marks(&r, &next, &pages), 1);
	ring_unmap(&r);
}

static const struct check_case on_request[] = {{"of_cpu1", of_cpu1}};

static const struct check_case cases[] = {
	{"layout", layout},
	{"records", records},
	{"grows", grows},
	{"lost", lost},
	{"emptied", emptied},
	{"beside", beside},
	{"refused", refused},
	{"moved", moved},
	{"excludes", excludes},
	{"life", life},
	{"comes_and_goes", comes_and_goes},
	{"waits", waits},
};

int main(int argc, char **argv)
{
	check_seconds = 60;
	if (argc > 1 && !strcmp(argv[1], "hold"))
		hold();
	if (argc > 1 && !strcmp(argv[1], on_request[0].name))
		return check_main(argc, argv, on_request, ARRAY_SIZE(on_request));
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
