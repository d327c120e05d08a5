/*
 * tracefuzz MILLISECONDS LIMIT [SEED]: does every write to tracefs, and every read, come to its end?
 *
 * Four writers put random texts into random files, three readers read what there is to read, and two other processes
 * start programs, all at once and without regard for each other. Each notes what it is at and since when. The parent
 * looks on: an operation that takes longer than LIMIT milliseconds of the guest's clock has hung, or as good as. It is
 * told with the seed and the last operations of everybody. Afterwards each must finish what it was at, and the way out
 * must work: the tracers, recording, events and commands go off and the instances go, within the same limit.
 *
 * What is written is not in here. The files are those that tracefs has; the words come from available_tracers,
 * available_filter_functions, available_events, options/, the README of tracefs and the files themselves. The README's
 * lines about a file are its grammar (trace_words.h): [ ] may be left out, | separates alternatives, <name> and words
 * in capitals stand for something. So what is new in tracefs is tried at once. A shape of text that a file has never
 * taken is tried more seldom there.
 *
 * The working directory is tracefs. Left out is what prints records on the console, or panics when it is told to.
 */
#include <check.h>
#include <dirent.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "trace_words.h"

#define WRITERS	  4
#define READERS	  3
#define LOADS	  2
#define WORKERS	  (WRITERS + READERS)
#define MAX_READS 16 /* of one file, which may grow as fast as it is read */
#define LAST	  6  /* operations of each that are told */
#define FILES_MAX 200

static struct shared {
	volatile int stop;
	struct at {
		volatile long since; /* ns, 0: between two operations */
		volatile unsigned long done, taken;
		volatile long longest;
		char last[LAST][WORDS_TEXT + WORDS_PATH], longest_what[WORDS_TEXT + WORDS_PATH];
	} at[WORKERS];
	struct luck {
		unsigned short tried, taken;
	} luck[FILES_MAX][NR_WORDS_SHAPES]; /* of all writers; a count that is lost does no harm */
} * shared;

static char *readable[FILES_MAX], *writable[FILES_MAX];
static unsigned nr_readable, nr_writable;

/* ---- The files */

/* A file, by its mode; of events and options one stands for all that have the same name below (a star in its path). */
static void add_file(const char *path, unsigned mode)
{
	if (mode & 0400 && nr_readable < FILES_MAX)
		readable[nr_readable++] = vt_strdup(path);
	if (mode & 0200 && nr_writable < FILES_MAX)
		writable[nr_writable++] = vt_strdup(path);
}

/* `real` is one directory that `path` stands for. */
static void add_directory(const char *path, const char *real)
{
	char **names = vt_names(real), *only = NULL;

	for (char **name = names; name && *name; name++) {
		bool many = !strcmp(path, "options") || !strcmp(path, "events") || !strcmp(path, "events/*");
		char below[WORDS_PATH], real_below[WORDS_PATH];
		struct stat st;

		snprintf(real_below, sizeof(real_below), "%s/%s", real, *name);
		if (lstat(real_below, &st) < 0)
			continue;
		/* header_page stands beside the systems, and `enable` beside the events of one. */
		many &= S_ISDIR(st.st_mode) || !strcmp(path, "options");
		if (many && only)
			continue;
		if (many)
			only = *name;
		snprintf(below, sizeof(below), "%s%s%s", strcmp(path, ".") ? path : "", strcmp(path, ".") ? "/" : "",
			 many ? "*" : *name);
		if (!S_ISDIR(st.st_mode))
			add_file(below, st.st_mode);
		else if (strcmp(*name, "instances"))
			add_directory(below, real_below);
	}
	vt_names_free(names);
}

/*
 * The stars of the pattern become the names of an event, or of an option. Sometimes it is a file of an instance, which
 * may not be there.
 */
static void name_file(char *to, const char *pattern)
{
	bool option = !strncmp(pattern, "options/", 8);
	const char *fill = option ? words_option() : words_event();
	size_t n = 0;

	if (!words_below(3))
		n = snprintf(to, WORDS_PATH, "instances/fuzz%u/", words_below(2));
	for (; *pattern && n < WORDS_PATH - 1; pattern++) {
		if (*pattern != '*') {
			to[n++] = *pattern;
			continue;
		}
		n += snprintf(to + n, WORDS_PATH - n, "%.*s", (int)strcspn(fill, ":"), fill);
		fill += strcspn(fill, ":") + !option;
	}
	to[n < WORDS_PATH ? n : WORDS_PATH - 1] = '\0';
}

/* ---- One operation */

static void begin(struct at *at, const char *verb, const char *file, const char *text)
{
	snprintf(at->last[at->done % LAST], sizeof(at->last[0]), "%s %s '%s'", verb, file, text);
	at->since = check_now();
}

static void end(struct at *at)
{
	long took = check_now() - at->since;

	if (took > at->longest) {
		at->longest = took;
		memcpy(at->longest_what, at->last[at->done % LAST], sizeof(at->longest_what));
	}
	at->since = 0;
	at->done++;
}

/* With a newline or without, in one piece or in two. */
static bool write_text(int fd, char *text)
{
	size_t length = strlen(text), first;

	if (length < WORDS_TEXT - 1 && words_below(8))
		text[length++] = '\n';
	first = words_below(16) || !length ? length : words_below(length);
	if (write(fd, text, first) != (ssize_t)first)
		return false;
	return first == length || write(fd, text + first, length - first) == (ssize_t)(length - first);
}

/* Files of which there are many alike, as of CPUs, come more seldom, and so do those that have taken nothing so far. */
static unsigned random_writable(void)
{
	for (unsigned tries = 0;; tries++) {
		unsigned n = words_below(nr_writable), tried = 0, taken = 0;

		for (unsigned shape = 0; shape < NR_WORDS_SHAPES; shape++) {
			tried += shared->luck[n][shape].tried;
			taken += shared->luck[n][shape].taken;
		}
		if (strchr(writable[n], '/') && !strchr(writable[n], '*') && words_below(3))
			continue;
		if (tries > 8 || words_below(tried / 4 + 1) <= taken)
			return n;
	}
}

/* As often as it has been taken there so far. What changes little comes more seldom. */
static enum words_shape random_shape(const struct luck *luck)
{
	for (unsigned tries = 0; tries < 8; tries++) {
		enum words_shape shape = words_below(NR_WORDS_SHAPES);
		bool dull = shape == WORDS_OWN || shape == WORDS_EMPTY;

		if (words_below(luck[shape].tried + 2) <= luck[shape].taken && !(dull && words_below(4)))
			return shape;
	}
	return words_below(NR_WORDS_SHAPES);
}

/* What the kernel says to it is not our subject. */
static void write_something(struct at *at)
{
	unsigned n = random_writable();
	char file[WORDS_PATH], text[WORDS_TEXT];
	enum words_shape shape;
	bool taken;
	int fd;

	shape = random_shape(shared->luck[n]);
	name_file(file, writable[n]);
	words_text(text, shape, file);
	if (!words_may_be_written(text))
		return;
	begin(at, "write", file, text);
	fd = open(file, O_WRONLY | (words_below(3) ? O_APPEND : O_TRUNC));
	if (fd >= 0) {
		taken = write_text(fd, text);
		taken &= close(fd) == 0;
		shared->luck[n][shape].tried++;
		shared->luck[n][shape].taken += taken;
		at->taken += taken;
	}
	end(at);
}

static void make_or_remove(struct at *at)
{
	bool make = words_below(2);
	char dir[] = "instances/fuzz0";

	dir[sizeof(dir) - 2] += words_below(2);
	begin(at, make ? "mkdir" : "rmdir", dir, "");
	at->taken += (make ? mkdir(dir, 0700) : rmdir(dir)) == 0;
	end(at);
}

static void writer(struct at *at)
{
	while (!shared->stop)
		if (words_below(80))
			write_something(at);
		else
			make_or_remove(at);
}

static void reader(struct at *at)
{
	static char page[4096];

	while (!shared->stop) {
		char file[WORDS_PATH];
		int fd, reads = MAX_READS;

		name_file(file, readable[words_below(nr_readable)]);
		begin(at, "open", file, "");
		fd = open(file, O_RDONLY | O_NONBLOCK);
		end(at);
		while (fd >= 0 && reads-- && !shared->stop) {
			long n;

			begin(at, "read", file, "");
			n = read(fd, page, sizeof(page));
			at->taken += n > 0;
			end(at);
			if (n <= 0)
				break;
		}
		if (fd >= 0)
			close(fd);
	}
}

/* Something to trace: programs begin and end, files are read, a task sleeps. */
static void load(void)
{
	static char page[4096], *arguments[] = {"true", NULL};

	while (!shared->stop) {
		pid_t pid = check_fork();
		int status, fd = open("/proc/self/stat", O_RDONLY);

		if (!pid) {
			execve("/bin/true", arguments, environ);
			_exit(0);
		}
		if (fd < 0 || read(fd, page, sizeof(page)) < 0)
			errno = 0;
		close(fd);
		waitpid(pid, &status, 0);
		check_sleep(200000);
	}
}

/* ---- The parent */

/* Everybody's last operations, for who has to find out why. */
static void tell(const char *why)
{
	long now = check_now();

	printf("seed %lu: %s\n", words_seed, why);
	for (unsigned i = 0; i < WORKERS; i++) {
		const struct at *at = &shared->at[i];
		unsigned long done = at->done, since = at->since;

		printf("%u: %lu done, at the last for %ld ms\n", i, done, since ? (now - (long)since) / 1000000 : 0);
		for (unsigned long n = done > LAST ? done - LAST + 1 : 0; n <= done; n++)
			if (n < done || since)
				printf("%u:   %s\n", i, at->last[n % LAST]);
	}
	fflush(stdout);
}

/* 0, or what is wrong was told. A process that has ended has met an oops, or the OOM killer. */
static int look_on(long until, long limit)
{
	int status;

	for (long now = check_now(), before = now; now < until; before = now, now = check_now()) {
		if (now - before > limit) {
			tell("nothing has run for long");
			return 1;
		}
		for (unsigned i = 0; i < WORKERS; i++) {
			long since = shared->at[i].since;

			if (since && now - since > limit) {
				tell("an operation does not come to its end");
				return 1;
			}
		}
		if (waitpid(-1, &status, WNOHANG) > 0) {
			tell("a process has ended");
			return 1;
		}
		check_sleep(5000000);
	}
	return 0;
}

static void start(unsigned i)
{
	if (check_fork())
		return;
	words_begin(i + 1);
	if (i < WRITERS)
		writer(&shared->at[i]);
	else if (i < WORKERS)
		reader(&shared->at[i]);
	else
		load();
	_exit(0);
}

/* All that were told to stop have done so. 0, or it was told. */
static int all_end(long limit)
{
	long until = check_now() + limit;
	int status;

	for (;;) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid < 0)
			return 0;
		if (!pid && check_now() > until) {
			tell("not all end");
			return 1;
		}
		if (!pid)
			check_sleep(1000000);
	}
}

/* An operation of the way out. 0, or it has taken too long, and was told. */
static int leave_by(const char *file, const char *text, long limit)
{
	long began = check_now(), took;
	int fd = text ? open(file, O_WRONLY | O_TRUNC) : -1;

	if (!text && rmdir(file) < 0)
		errno = 0;
	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		errno = 0;
	if (fd >= 0)
		close(fd);
	took = check_now() - began;
	if (took <= limit)
		return 0;
	printf("seed %lu: the way out by %s took %ld ms\n", words_seed, file, took / 1000000);
	return 1;
}

/* Not everything is as it was afterwards, but nothing is traced. */
static int way_out(long limit)
{
	static const char *const out[][2] = {
		{"current_tracer", "nop"},   {"tracing_on", "0"},
		{"set_ftrace_filter", "\n"}, {"events/enable", "0"},
		{"instances/fuzz0", NULL},   {"instances/fuzz1", NULL},
		{"dynamic_events", "\n"},    {"function_profile_enabled", "0"},
	};
	int failed = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(out); i++)
		failed |= leave_by(out[i][0], out[i][1], limit);
	return failed;
}

int main(int argc, char **argv)
{
	long ms = argc > 2 ? atol(argv[1]) : 0, limit = argc > 2 ? atol(argv[2]) * 1000000 : 0, longest = 0;
	unsigned long done = 0, taken = 0;
	const char *what = "";
	int failed;

	if (ms <= 0 || limit <= 0) {
		fprintf(stderr, "usage: tracefuzz MILLISECONDS LIMIT [SEED]\n");
		return 2;
	}
	words_seed = argc > 3 ? strtoul(argv[3], NULL, 0) : 1;
	words_begin(0);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	words_learn();
	add_directory(".", ".");
	printf("seed %lu: %u files to write, %u to read\n", words_seed, nr_writable, nr_readable);
	fflush(stdout);
	for (unsigned i = 0; i < WORKERS + LOADS; i++)
		start(i);
	failed = look_on(check_now() + ms * 1000000, limit);
	shared->stop = 1;
	failed |= all_end(limit) || way_out(limit);
	for (unsigned i = 0; i < WORKERS; i++) {
		done += shared->at[i].done;
		taken += shared->at[i].taken;
		if (shared->at[i].longest >= longest) {
			longest = shared->at[i].longest;
			what = shared->at[i].longest_what;
		}
	}
	printf("%lu operations, %lu taken, the longest took %ld us: %s\n", done, taken, longest / 1000, what);
	return failed;
}
