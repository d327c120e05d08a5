/*
 * rawpipes: splice from per_cpu/cpu0/trace_pipe_raw into pipes that were resized. Records are markers "seq N". The
 * working directory is tracefs, nothing else records.
 */
#include <check.h>
#include <fcntl.h>
#include <poll.h>
#include <posix.h>
#include <watch.h>

#define PAGE 4096

static int ends[2];

/* An open trace_pipe_raw with `marks` records, for sub-buffers of so many KiB. */
static int start(const char *kib, unsigned marks)
{
	int marker = (int)CHECK_CALL(open("trace_marker", O_WRONLY)), fd;
	char text[32];

	check_put("buffer_subbuf_size_kb", kib);
	check_put("buffer_size_kb", "64");
	check_put("trace", "");
	check_pin(0);
	fd = (int)CHECK_CALL(open("per_cpu/cpu0/trace_pipe_raw", O_RDONLY | O_NONBLOCK));
	for (unsigned i = 0; i < marks; i++) {
		snprintf(text, sizeof(text), "seq %u\n", i);
		CHECK_EQ(write(marker, text, strlen(text)), (long)strlen(text));
	}
	close(marker);
	CHECK_CALL(pipe(ends));
	return fd;
}

static void end(int fd)
{
	close(fd);
	close(ends[0]);
	close(ends[1]);
	check_put("buffer_subbuf_size_kb", "4");
}

/* Can it be read now? */
static bool readable(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	return CHECK_CALL(poll(&one, 1, 0)) == 1;
}

/* How many of "seq 0", "seq 1", ... stand in these bytes, in this order? */
static unsigned count_marks(const char *bytes, size_t n)
{
	unsigned found = 0;
	char text[32];

	snprintf(text, sizeof(text), "seq %u\n", found);
	for (size_t at = 0; at + strlen(text) <= n; at++)
		if (!memcmp(bytes + at, text, strlen(text)))
			snprintf(text, sizeof(text), "seq %u\n", ++found);
	return found;
}

/* A pipe gets another size while it holds so many bytes, which end in the middle of a page; then a page of records. */
static void resize_with(long left)
{
	static char page[PAGE];
	int fd = start("4", 300);

	CHECK_EQ(write(ends[1], page, 1000), 1000);
	CHECK_EQ(read(ends[0], page, 1000 - left), 1000 - left);
	CHECK_EQ(fcntl(ends[1], F_SETPIPE_SZ, 8 * PAGE), 8 * PAGE);
	CHECK_EQ(splice(fd, NULL, ends[1], NULL, PAGE, 0), PAGE);
	if (left)
		CHECK_EQ(read(ends[0], page, left), left);
	CHECK_EQ(vt_read(ends[0], page, PAGE), PAGE);
	CHECK_RANGE(count_marks(page, PAGE), 40, 299);
	end(fd);
}

/* It has no page at that place. */
static void resized(void)
{
	resize_with(0);
}

/* Its pages are copies, and the place in the last one stays. */
static void resized_with_bytes(void)
{
	resize_with(100);
}

/* A pipe without room for all of a sub-buffer takes a part, and poll says that splice has the rest. */
static void in_parts(void)
{
	static char pages[2 * PAGE];
	int fd = start("8", 400);

	CHECK_EQ(fcntl(ends[1], F_SETPIPE_SZ, PAGE), PAGE);
	CHECK_EQ(readable(fd), false); /* less than buffer_percent */
	CHECK_EQ(splice(fd, NULL, ends[1], NULL, 2 * PAGE, 0), PAGE);
	CHECK_EQ(readable(fd), true);
	CHECK_EQ(vt_read(ends[0], pages, PAGE), PAGE);
	CHECK_EQ(splice(fd, NULL, ends[1], NULL, PAGE, 0), PAGE);
	CHECK_EQ(vt_read(ends[0], pages + PAGE, PAGE), PAGE);
	CHECK_EQ(readable(fd), false);
	CHECK_RANGE(count_marks(pages, sizeof(pages)), 80, 399);
	end(fd);
}

static const struct check_case cases[] = {
	{"resized", resized},
	{"resized_with_bytes", resized_with_bytes},
	{"in_parts", in_parts},
};

int main(int argc, char **argv)
{
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
