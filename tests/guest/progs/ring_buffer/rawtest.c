/*
 * rawtest: per_cpu/cpuN/trace_pipe_raw, by read, poll and splice: every record comes once, in order, or is counted as
 * lost. Records are markers "seq N". The same with sub-buffers that are larger than a page, and records that only these
 * can hold. The working directory is tracefs, nothing else records.
 */
#include <check.h>
#include <fcntl.h>
#include <numbers.h>
#include <poll.h>
#include <posix.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <watch.h>

#define PAGE	      4096
#define MOST_PAGES    128 /* of a sub-buffer */
#define MISSED_EVENTS 0x80000000u
#define MISSED_STORED 0x40000000u
#define TRACE_PRINT   5

static int raw_open(int cpu, int flags)
{
	char name[64];

	snprintf(name, sizeof(name), "per_cpu/cpu%d/trace_pipe_raw", cpu);
	return (int)CHECK_CALL(open(name, O_RDONLY | flags));
}

/* Can it be read within so many ms? */
static bool readable(int fd, long ms)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return CHECK_CALL(poll(&one, 1, (int)ms)) == 1;
}

/* "seq N" for n numbers from `first` on. */
static void mark(int fd, unsigned long first, unsigned long n)
{
	char text[32];

	for (; n; n--) {
		snprintf(text, sizeof(text), "seq %lu\n", first++);
		CHECK_EQ(write(fd, text, strlen(text)), (long)strlen(text));
	}
}

/* ---- Pages */

static size_t subbuf = PAGE; /* bytes of a sub-buffer */

static void set_subbuf(unsigned kib)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", kib);
	check_put("buffer_subbuf_size_kb", text);
	subbuf = kib * 1024;
}

struct stream {
	unsigned long next, lost; /* the number due; how many were said to be lost */
	bool gap;		  /* some are missing, and the page had no room to say how many */
};

static unsigned word(const unsigned char *at)
{
	unsigned w;

	memcpy(&w, at, sizeof(w));
	return w;
}

/* One event at p: 0, or the bytes to step over. */
static size_t feed_event(struct stream *s, const unsigned char *p, size_t room)
{
	unsigned type = word(p) & 31;
	const unsigned char *data = p + 4;
	size_t size = 4 + 4 * (size_t)type;

	if (type == 30)
		return 8;
	if (type == 29 || type == 0) {
		size = 4 + word(p + 4);
		data += 4;
	}
	if (!CHECK(type <= 29 && size <= room))
		return 0;
	if (type == 29 || !CHECK_EQ(data[0] | data[1] << 8, TRACE_PRINT))
		return size;
	if (CHECK(!strncmp((const char *)data + 16, "seq ", 4))) {
		unsigned long n = strtoul((const char *)data + 20, NULL, 10);

		if (s->gap && CHECK(n > s->next)) {
			s->lost += n - s->next;
			s->next = n;
		}
		CHECK_EQ(n, s->next);
		s->next = n + 1;
		s->gap = false;
	}
	return size;
}

static bool feed_page(struct stream *s, const unsigned char *page)
{
	unsigned commit = word(page + 8), size = commit & 0xfffff;
	size_t step = 1;
	unsigned long lost;

	if (!CHECK(size <= subbuf - 16 && size))
		return false;
	if (commit & MISSED_EVENTS) {
		if (commit & MISSED_STORED) {
			memcpy(&lost, page + 16 + size, sizeof(lost));
			s->lost += lost;
			s->next += lost;
		} else {
			s->gap = true;
		}
	}
	for (size_t at = 0; at < size && step; at += step)
		step = feed_event(s, page + 16 + at, size - at);
	return step != 0;
}

/* ---- Cases */

static void start(const char *kib)
{
	check_put("tracing_on", "0");
	check_put("buffer_size_kb", kib);
	check_put("buffer_percent", "50");
	check_put("trace", "");
	check_put("tracing_on", "1");
	check_pin(0);
}

static void nothing(void)
{
	static char page[2 * PAGE];
	int fd, ends[2];

	start("64");
	fd = raw_open(0, O_NONBLOCK);
	CHECK_CALL(pipe(ends));
	CHECK_ERRNO(read(fd, page, PAGE), EAGAIN);
	CHECK_ERRNO(splice(fd, NULL, ends[1], NULL, PAGE, 0), EAGAIN);
	CHECK_ERRNO(splice(fd, NULL, ends[1], NULL, PAGE - 1, 0), EINVAL);
	CHECK_ERRNO(lseek(fd, 0, SEEK_SET), ESPIPE);
	CHECK_ERRNO(write(fd, page, 1), EBADF);
	CHECK_EQ(read(fd, page, 0), 0);
	CHECK(!readable(fd, 0));
	CHECK_ERRNO(open("per_cpu/cpu9/trace_pipe_raw", O_RDONLY), ENOENT);
}

/* A stream of whole pages, each begun with as many records as the read had room for. */
static void small_reads(void)
{
	static unsigned char page[PAGE + 100];
	struct stream s = {0};
	int fd, marker = (int)CHECK_CALL(open("trace_marker", O_WRONLY));

	start("64");
	fd = raw_open(0, O_NONBLOCK);
	mark(marker, 0, 5);
	CHECK_EQ(read(fd, page, 16), 0); /* no record has room */
	CHECK_EQ(read(fd, page, 30), 0);
	CHECK_EQ(read(fd, page, 100), 100);
	CHECK_RANGE(word(page + 8), 28, 84);
	CHECK_ERRNO(splice(fd, NULL, marker, NULL, PAGE, 0), EINVAL);
	CHECK(readable(fd, 0));
	CHECK_EQ(read(fd, page + 100, PAGE), PAGE - 100);
	feed_page(&s, page);
	CHECK_RANGE(s.next, 1, 3);
	for (unsigned i = 16 + word(page + 8); i < PAGE; i++)
		CHECK_EQ(page[i], 0);
	CHECK_ERRNO(read(fd, (void *)8, PAGE), EFAULT); /* and nothing is lost by that */
	CHECK_EQ(read(fd, page, PAGE), PAGE);
	feed_page(&s, page);
	CHECK_EQ(s.next, 5);
	CHECK_ERRNO(read(fd, page, PAGE), EAGAIN);
}

/* Half of the pages must be full for poll, and for splice, which ends when recording goes off, too; read takes any. */
static void percent(void)
{
	static unsigned char page[PAGE];
	int fd, ends[2], marker = (int)CHECK_CALL(open("trace_marker", O_WRONLY));
	pid_t splicer, reader;

	start("64");
	fd = raw_open(0, 0);
	CHECK_CALL(pipe(ends));
	for (int round = 0; round < 2; round++) {
		splicer = check_fork();
		if (!splicer)
			_exit(splice(fd, NULL, ends[1], NULL, PAGE, 0) != PAGE);
		process_gets(splicer, 'S');
		mark(marker, 0, 600); /* some 24 KiB: 6 of 17 pages */
		CHECK(!readable(fd, 50));
		CHECK_EQ(waitpid(splicer, NULL, WNOHANG), 0);
		if (round)
			check_put("tracing_on", "0");
		else
			mark(marker, 600, 600);
		CHECK_EQ(check_wait(splicer), 0);
		CHECK_EQ(readable(fd, round ? 50 : 1000), !round);
		start("64");
	}
	reader = check_fork();
	if (!reader)
		_exit(read(fd, page, PAGE) != PAGE);
	process_gets(reader, 'S');
	mark(marker, 0, 1);
	CHECK_EQ(check_wait(reader), 0);
	check_put("buffer_percent", "0");
	CHECK(!readable(fd, 0));
	mark(marker, 1, 1);
	CHECK(readable(fd, 1000) && read(fd, page, PAGE) == PAGE);
}

/*
 * Pages by splice, and at the end by read; writers on this CPU meanwhile. A sub-buffer that is larger than the pipe
 * comes with several calls.
 */
static void collect(struct stream *s, int fd, pid_t writer)
{
	static unsigned char page[MOST_PAGES * PAGE];
	size_t most = subbuf > 8 * PAGE ? subbuf : 8 * PAGE, have = 0;
	int ends[2], status;
	bool ended = false;
	ssize_t n;

	CHECK_CALL(pipe(ends));
	do {
		ended = ended || waitpid(writer, &status, WNOHANG) == writer;
		n = splice(fd, NULL, ends[1], NULL, most, SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
		CHECK(n % PAGE == 0 || (n < 0 && errno == EAGAIN));
		for (; n >= PAGE; n -= PAGE) {
			if (!CHECK_EQ(vt_read(ends[0], page + have, PAGE), PAGE))
				return;
			have = (have + PAGE) % subbuf;
			if (!have && !feed_page(s, page))
				return;
		}
	} while (n == 0 || !ended);
	CHECK_EQ(have, 0);
	CHECK_EQ(status, 0);
	while ((n = read(fd, page, subbuf)) > 0)
		feed_page(s, page);
	CHECK_EQ(n < 0 ? errno : 0, EAGAIN);
	close(ends[0]);
	close(ends[1]);
}

static unsigned long overrun(int cpu)
{
	char name[64], text[512] = "", *at;
	int fd;

	snprintf(name, sizeof(name), "per_cpu/cpu%d/stats", cpu);
	fd = (int)CHECK_CALL(open(name, O_RDONLY));
	CHECK_CALL(read(fd, text, sizeof(text) - 1));
	close(fd);
	at = strstr(text, "\noverrun: ");
	return CHECK(at) ? strtoul(at + 10, NULL, 10) : 0;
}

static void run_writer(unsigned long n, unsigned burst)
{
	int marker = (int)CHECK_CALL(open("trace_marker", O_WRONLY));
	unsigned long state = 7;

	for (unsigned long i = 0, some; i < n; i += some) {
		some = 1 + watch_random(&state) % burst;
		some = some < n - i ? some : n - i;
		mark(marker, i, some);
		sched_yield();
	}
	_exit(check_failures != 0);
}

static void every_record(const char *kib, unsigned burst, bool lossy)
{
	enum { RECORDS = 20000 };
	struct stream s = {0};
	pid_t writer;
	int fd;

	start(kib);
	fd = raw_open(0, O_NONBLOCK);
	writer = check_fork();
	if (!writer)
		run_writer(RECORDS, burst);
	check_pin(check_cpus() > 1 ? 1 : 0);
	collect(&s, fd, writer);
	CHECK_EQ(s.next, RECORDS);
	CHECK_EQ(s.lost, overrun(0));
	CHECK_EQ(s.lost > 0, lossy);
	close(fd);
}

static void lossless(void)
{
	every_record("2048", 100, false);
}

static void with_losses(void)
{
	every_record("16", 3000, true);
}

/* Pages that went through pipes are free again. */
static void memory(void)
{
	long before;

	every_record("2048", 100, false);
	before = watch_free_memory();
	for (int i = 0; i < 3; i++)
		every_record("2048", 100, false); /* each 1.2 MiB through the pipe */
	CHECK_RANGE(watch_missing(before, 400), -100000, 400);
}

/*
 * The pipe stands a part behind the start of a page and is full, so each page that comes in is cut in two parts, and
 * the second one goes to the page whose end is still to be read. The page itself is free then. All records come out.
 */
static void uneven(void)
{
	static unsigned char page[PAGE];
	int fd, ends[2], marker = (int)CHECK_CALL(open("trace_marker", O_WRONLY));
	struct stream s = {0};
	long before;

	start("2048");
	fd = raw_open(0, O_NONBLOCK);
	CHECK_CALL(pipe(ends));
	mark(marker, 0, 30000); /* some 300 pages */
	CHECK_EQ(write(ends[1], page, 1000), 1000);
	CHECK_EQ(splice(fd, NULL, ends[1], NULL, 15 * PAGE, 0), 15 * PAGE);
	CHECK_EQ(read(ends[0], page, 1000), 1000);
	before = watch_free_memory();
	for (int i = 0; i < 200; i++) {
		CHECK_EQ(splice(fd, NULL, ends[1], NULL, PAGE, 0), PAGE);
		if (!CHECK_EQ(vt_read(ends[0], page, PAGE), PAGE) || !feed_page(&s, page))
			return;
	}
	CHECK_RANGE(s.next, 200 * 40, 30000);
	CHECK_RANGE(watch_missing(before, 400), -100000, 400);
}

/* The text of trace_pipe the same way. */
static void text_pipe(void)
{
	static char text[64 * 1024];
	int fd, ends[2], marker = (int)CHECK_CALL(open("trace_marker", O_WRONLY));
	ssize_t n, all = 0;
	unsigned long lines = 0;
	char *at = text;

	start("64");
	fd = (int)CHECK_CALL(open("per_cpu/cpu0/trace_pipe", O_RDONLY | O_NONBLOCK));
	CHECK_CALL(pipe(ends));
	CHECK_ERRNO(splice(fd, NULL, ends[1], NULL, 100, 0), EAGAIN);
	mark(marker, 0, 300);
	while ((n = splice(fd, NULL, ends[1], NULL, 10000, 0)) > 0) {
		CHECK_EQ(vt_read(ends[0], text + all, n), n);
		all += n;
	}
	CHECK_EQ(n < 0 ? errno : 0, EAGAIN);
	while ((at = strstr(at, ": seq "))) {
		CHECK_EQ(strtoul(at + 6, NULL, 10), lines++);
		at += 6;
	}
	CHECK_EQ(lines, 300);
}

static void instance(void)
{
	static unsigned char page[PAGE];
	struct stream s = {0};
	int fd, marker;

	start("64");
	CHECK_CALL(mkdir("instances/raw", 0700));
	CHECK_CALL(chdir("instances/raw"));
	marker = (int)CHECK_CALL(open("trace_marker", O_WRONLY));
	check_put("buffer_percent", "0");
	fd = raw_open(0, 0);
	mark(marker, 0, 3);
	CHECK_EQ(read(fd, page, PAGE), PAGE);
	feed_page(&s, page);
	CHECK_EQ(s.next, 3);
	close(marker);
	CHECK_CALL(chdir("../.."));
	CHECK_ERRNO(rmdir("instances/raw"), EBUSY);
	close(fd);
	CHECK_CALL(rmdir("instances/raw"));
}

/* Memory that cannot be read leaves a record that says so. */
static void faulted(void)
{
	static char text[4096];
	int marker = (int)CHECK_CALL(open("trace_marker", O_WRONLY));
	int raw = (int)CHECK_CALL(open("trace_marker_raw", O_WRONLY)), fd;
	size_t n;

	start("64");
	CHECK_ERRNO(write(marker, (void *)8, 10), EFAULT);
	CHECK_ERRNO(write(raw, (void *)8, 10), EFAULT);
	close(marker);
	close(raw);
	fd = (int)CHECK_CALL(open("trace", O_RDONLY));
	n = (size_t)CHECK_CALL(read(fd, text, sizeof(text) - 1));
	text[n] = '\0';
	CHECK_EQ(strstr(text, "tracing_mark_write: <faulted>\n") != NULL, 1);
	CHECK_EQ(strstr(text, "# ffffffff buf: 3c 66 61 75 6c 74 65 64 3e 00") != NULL, 1);
	close(fd);
}

/* The same with larger sub-buffers: less than a pipe holds, as much, and more. */
static void larger(void)
{
	static const unsigned sizes[] = {8, 64, 128, 512};
	char file[64];
	int fd, ends[2];

	CHECK_CALL(pipe(ends));
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		set_subbuf(sizes[i]);
		every_record("4096", 100, false);
		/* Less than a sub-buffer is asked for. */
		snprintf(file, sizeof(file), "per_cpu/cpu0/trace_pipe_raw");
		fd = (int)CHECK_CALL(open(file, O_RDONLY | O_NONBLOCK));
		CHECK_ERRNO(splice(fd, NULL, ends[1], NULL, subbuf - PAGE, 0), EINVAL);
		CHECK_ERRNO(splice(fd, NULL, ends[1], NULL, subbuf, 0), EAGAIN);
		close(fd);
	}
	set_subbuf(8);
	every_record("16", 3000, true);
	set_subbuf(4);
	close(ends[0]);
	close(ends[1]);
}

/* Sub-buffers in all places (the ring's, the reader's, on their way through a pipe) are free again. */
static void larger_memory(void)
{
	long before;

	start("2048");
	set_subbuf(128);
	every_record("2048", 100, false); /* what we and slabs need for it is there from here on */
	set_subbuf(4);
	before = watch_free_memory();
	for (int i = 0; i < 3; i++) {
		set_subbuf(32 << i);
		every_record("2048", 100, false);
	}
	set_subbuf(4);
	CHECK_RANGE(watch_missing(before, 400), -100000, 400);
}

/* The text of trace or trace_pipe up to its end; the caller frees it. */
static char *whole_text(const char *file)
{
	size_t room = 4 << 20, have = 0;
	char *text = malloc(room);
	int fd = (int)CHECK_CALL(open(file, O_RDONLY | O_NONBLOCK));
	ssize_t n;

	while (text && have + 1 < room && (n = read(fd, text + have, room - 1 - have)) > 0)
		have += (size_t)n;
	close(fd);
	if (text)
		text[have] = '\0';
	return text;
}

/* Does the text behind `what` consist of these n bytes in hexadecimal? */
static bool shows_bytes(const char *text, const char *what, const unsigned char *bytes, size_t n)
{
	char two[8];

	text = text ? strstr(text, what) : NULL;
	for (text = text ? text + strlen(what) : NULL; text && n; n--, text += 3) {
		snprintf(two, sizeof(two), " %02x", *bytes++);
		if (strncmp(text, two, 3))
			return false;
	}
	return text && *text == '\n';
}

/*
 * The largest records of each size, byte for byte: a text of 4096 bytes, which is what Linux takes of one, and bytes up
 * to the end of the sub-buffer, by trace, trace_pipe and trace_pipe_raw. One byte more is refused.
 */
static void large_records(void)
{
	static unsigned char bytes[MOST_PAGES * PAGE], page[MOST_PAGES * PAGE];
	int marker = (int)CHECK_CALL(open("trace_marker", O_WRONLY));
	int raw = (int)CHECK_CALL(open("trace_marker_raw", O_WRONLY)), fd;

	for (unsigned kib = 4; kib <= 512; kib *= 2) {
		size_t n = kib * 1024 - 32, text_max = kib == 4 ? 4072 - 16 - 2 : 4096;
		char *text, *at;

		set_subbuf(kib);
		start("64");
		memcpy(bytes, (unsigned[]){0x1234}, 4);
		for (size_t i = 4; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)(i * 7 + i / 253);
		CHECK_ERRNO(write(raw, bytes, n + 1), EINVAL);
		CHECK_EQ(write(raw, bytes, n), (long)n);
		/* The first two forms of the largest record have a megabyte and a half. */
		for (int pipe = 0; pipe < 2 && kib <= 64; pipe++) {
			text = whole_text(pipe ? "trace_pipe" : "trace");
			CHECK(shows_bytes(text, "# 1234 buf:", bytes + 4, n - 4));
			free(text);
		}
		if (kib <= 64)
			CHECK_EQ(write(raw, bytes, n), (long)n);
		fd = raw_open(0, O_NONBLOCK);
		CHECK_EQ(read(fd, page, subbuf), (long)subbuf);
		CHECK_EQ(word(page + 8), n + 16);
		CHECK_EQ(word(page + 16) & 31, 0);
		CHECK_EQ(word(page + 20), n + 12);
		CHECK(!memcmp(page + 32, bytes, n));
		CHECK_ERRNO(read(fd, page, subbuf), EAGAIN);
		close(fd);

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)('A' + (i + i / 25) % 26);
		CHECK_EQ(write(marker, bytes, 5000), (long)text_max);
		text = whole_text("trace");
		at = text ? strstr(text, "tracing_mark_write: ") : NULL;
		CHECK(at && !memcmp(at + 20, bytes, text_max) && at[20 + text_max] == '\n');
		free(text);
	}
	set_subbuf(4);
	close(marker);
	close(raw);
}

/* An open trace_pipe_raw goes on with the new size; what it had taken of the old one comes first. */
static void size_changes(void)
{
	static unsigned char page[2 * PAGE];
	struct stream s = {0};
	int fd, ends[2], marker = (int)CHECK_CALL(open("trace_marker", O_WRONLY));

	start("64");
	CHECK_CALL(pipe(ends));
	fd = raw_open(0, O_NONBLOCK);
	mark(marker, 0, 5);
	CHECK_EQ(read(fd, page, 200), 200);
	set_subbuf(8);
	CHECK_EQ(read(fd, page + 200, sizeof(page)), PAGE - 200);
	subbuf = PAGE;
	feed_page(&s, page);
	subbuf = 2 * PAGE;
	CHECK_ERRNO(read(fd, page, sizeof(page)), EAGAIN); /* the others are gone */
	s = (struct stream){0};
	mark(marker, 0, 200);
	CHECK_EQ(read(fd, page, sizeof(page)), 2 * PAGE);
	feed_page(&s, page);
	mark(marker, 200, 300);
	/* At this place in the stream no sub-buffer begins. */
	CHECK_ERRNO(splice(fd, NULL, ends[1], NULL, 2 * PAGE, 0), EINVAL);
	set_subbuf(4);
	CHECK_ERRNO(read(fd, page, PAGE), EAGAIN);
	close(fd);
	close(marker);
}

static const struct check_case cases[] = {
	{"nothing", nothing},
	{"small_reads", small_reads},
	{"percent", percent},
	{"lossless", lossless},
	{"with_losses", with_losses},
	{"memory", memory},
	{"text_pipe", text_pipe},
	{"instance", instance},
	{"faulted", faulted},
	{"uneven", uneven},
	{"larger", larger},
	{"larger_memory", larger_memory},
	{"large_records", large_records},
	{"size_changes", size_changes},
};

int main(int argc, char **argv)
{
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
