/*
 * uevents CASE...: programs' own events (docs/user-events.md) as the calls see them.
 * uevents make FORM REPEAT [HEX...]: register the event of this form, and write that many records of these bytes while
 * it is on and there is a file /tmp/write; the event stays registered until the standard input ends.
 * uevents storm N SEED: N times one of: register, end that, write, fork, unmap, protect, exec, exit.
 *
 * The working directory is tracefs.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <uapi/uio.h>
#include <uapi/user_events.h>
#include <unistd.h>
#include <watch.h>

#define PAGE  4096UL
#define FILES "user_events_data"

static int data_file(void)
{
	return CHECK_CALL(open(FILES, O_RDWR | O_CLOEXEC));
}

static struct user_reg reg_of(const void *word, unsigned size, unsigned bit, const char *form)
{
	return (struct user_reg){.size = sizeof(struct user_reg),
				 .enable_bit = bit,
				 .enable_size = size,
				 .enable_addr = (unsigned long)word,
				 .name_args = (unsigned long)form};
}

/* The index of the event in this file, or -1 with errno. */
static int reg_word(int fd, const void *word, unsigned bit, const char *form)
{
	struct user_reg reg = reg_of(word, 4, bit, form);

	return ioctl(fd, DIAG_IOCSREG, &reg) ? -1 : (int)reg.write_index;
}

static int unreg_word(int fd, const void *word, unsigned bit)
{
	struct user_unreg unreg = {.size = sizeof(unreg), .disable_bit = bit, .disable_addr = (unsigned long)word};

	return ioctl(fd, DIAG_IOCSUNREG, &unreg);
}

static void *pages(unsigned n)
{
	return mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static long protect(void *page, int prot)
{
	return check_syscall(SYS_mprotect, (long)page, PAGE, prot, 0, 0, 0);
}

/* exec of a program of /bin, with "-c COMMAND" if there is one. Returns only when it fails. */
static void run(const char *name, const char *command)
{
	char path[32];
	char *const argv[] = {(char *)name, command ? "-c" : NULL, (char *)command, NULL};

	snprintf(path, sizeof(path), "/bin/%s", name);
	execve(path, argv, environ);
}

/* Volatile: the kernel changes the word. */
static unsigned word_at(const void *at)
{
	return *(const volatile unsigned *)at;
}

/* The fault that a bit needs is made by a work: the word becomes this sooner or later. */
static void becomes(const void *at, unsigned wanted)
{
	while (word_at(at) != wanted)
		check_sleep(1000000);
}

static void event_on(const char *name, bool on)
{
	char path[80];

	snprintf(path, sizeof(path), "events/user_events/%s/enable", name);
	check_put(path, on ? "1" : "0");
}

/* Events go after their last user, by a work. */
static void await_gone(const char *name)
{
	char path[80];

	snprintf(path, sizeof(path), "events/user_events/%s", name);
	while (!access(path, F_OK))
		check_sleep(1000000);
}

/* ---- refused: what a request must say */

static void refused(void)
{
	static unsigned words[4];
	int fd = data_file();
	struct user_reg reg;
	char form[600];
	static char long_name[256]; /* with the number of its form it would be longer than a name may be */

	const struct {
		unsigned size, bit, bytes, flags;
		unsigned long addr;
		const char *form;
		int wanted;
	} rows[] = {
		{5000, 0, 4, 0, (unsigned long)words, form, E2BIG},
		{27, 0, 4, 0, (unsigned long)words, form, EINVAL},
		{28, 0, 4, USER_EVENT_REG_MAX, (unsigned long)words, form, EINVAL},
		{28, 0, 1, 0, (unsigned long)words, form, EINVAL},
		{28, 0, 16, 0, (unsigned long)words, form, EINVAL},
		{28, 32, 4, 0, (unsigned long)words, form, EINVAL},
		{28, 64, 8, 0, (unsigned long)words, form, EINVAL},
		{28, 0, 4, 0, (unsigned long)words + 2, form, EINVAL},
		{28, 0, 4, 0, ~3UL, form, EFAULT},
		{28, 0, 4, 0, 16, form, EFAULT},
		{28, 0, 4, 0, (unsigned long)words, (char *)16, EFAULT},
		{28, 0, 4, 0, (unsigned long)words, "t_refused:flag u32 a", EINVAL},
		{28, 0, 4, 0, (unsigned long)words, "t/refused u32 a", EINVAL},
		{28, 0, 4, 0, (unsigned long)words, " u32 a", EINVAL},
		{28, 0, 4, USER_EVENT_REG_MULTI_FORMAT, (unsigned long)words, long_name, EINVAL},
		{28, 0, 4, 0, (unsigned long)words, "t_refused long a", EINVAL},
		{28, 0, 4, 0, (unsigned long)words, "t_refused u32", EINVAL},
		{28, 0, 4, 0, (unsigned long)words, "t_refused u32  a", EINVAL},
		{28, 0, 4, 0, (unsigned long)words, "t_refused u32 a 4", EINVAL},
		{28, 0, 4, 0, (unsigned long)words, "t_refused struct s a", EINVAL},
		{28, 0, 4, 0, (unsigned long)words, "t_refused struct s a 0", EINVAL},
		{28, 0, 4, 0, (unsigned long)words, "t_refused char[1025] a", EINVAL},
		{28, 0, 4, 0, (unsigned long)words, "t_refused char[0] a", EINVAL},
		{28, 0, 4, 0, (unsigned long)words, "t_refused char[0x0000001] a", EINVAL},
		{28, 0, 4, 0, (unsigned long)words, "t_refused __data_loc char[]", EINVAL},
	};

	memset(long_name, 'n', sizeof(long_name) - 1);
	memset(form, 'x', sizeof(form) - 1);
	form[sizeof(form) - 1] = '\0';
	CHECK_ERRNO(ioctl(fd, DIAG_IOCSREG, (void *)16), EFAULT);
	reg = reg_of(words, 4, 0, form);
	CHECK_ERRNO(ioctl(fd, DIAG_IOCSREG, &reg), EINVAL); /* longer than 511 */
	strcpy(form, "t_refused u32 a");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		reg = reg_of((void *)rows[i].addr, rows[i].bytes, rows[i].bit, rows[i].form);
		reg.size = rows[i].size;
		reg.flags = rows[i].flags;
		if (!CHECK_ERRNO(ioctl(fd, DIAG_IOCSREG, &reg), rows[i].wanted))
			printf("  row %u: %s\n", i, rows[i].form == (char *)16 ? "" : rows[i].form);
	}
	CHECK_ERRNO(access("events/user_events", F_OK), ENOENT); /* none of them has made an event */
	CHECK_ERRNO(unreg_word(fd, words, 0), ENOENT);
	CHECK_ERRNO(ioctl(fd, DIAG_IOCSDEL, "t_refused"), ENOENT);
	CHECK_ERRNO(ioctl(fd, _IO('*', 9), 0), ENOTTY);
}

/* ---- bits: words of both sizes, and the bits beside the event's */

static void bits(void)
{
	static unsigned word = 0x40;
	static unsigned long wide = 1;
	int fd = data_file(), other = data_file();
	struct user_reg reg = reg_of(&wide, 8, 63, "t_bits");

	CHECK_EQ(reg_word(fd, &word, 0, "t_bits"), 0);
	CHECK_ERRNO(reg_word(fd, &word, 0, "t_bits"), EADDRINUSE);
	CHECK_EQ(reg_word(fd, &word, 31, "t_other u8 a"), 1);
	CHECK_ERRNO(reg_word(fd, &word, 30, "t_other u8 a; u8 b"), EADDRINUSE);
	CHECK_ERRNO(reg_word(fd, &word, 30, "t_other"), EADDRINUSE);
	CHECK_CALL(ioctl(other, DIAG_IOCSREG, &reg));
	CHECK_EQ(word_at(&word), 0x40);
	event_on("t_bits", true);
	CHECK_EQ(word_at(&word), 0x41);
	CHECK_EQ(*(volatile unsigned long *)&wide, 1UL << 63 | 1);
	event_on("t_other", true);
	CHECK_EQ(word_at(&word), 0x80000041);
	CHECK_EQ(reg_word(other, &word, 5, "t_other  u8\ta;"), 1); /* the same fields; it is on */
	CHECK_EQ(word_at(&word), 0x80000061);
	CHECK_ERRNO(ioctl(fd, DIAG_IOCSDEL, "t_bits"), EBUSY);
	CHECK_EQ(unreg_word(fd, &word, 0), 0);
	CHECK_EQ(word_at(&word), 0x80000060);
	event_on("t_other", false);
	CHECK_EQ(word_at(&word), 0x40);
	event_on("t_bits", false);
	CHECK_EQ(*(volatile unsigned long *)&wide, 1);
	close(fd);
	close(other);
	CHECK_EQ(unreg_word(data_file(), &wide, 63), 0); /* the file that registered it need not be open */
	await_gone("t_bits");
	CHECK_EQ(access("events/user_events/t_other", F_OK), 0); /* two places still have it */
}

/* ---- memory: pages that are shared, protected, unmapped and new */

static void check_forked(unsigned *word, int ask, int tell)
{
	pid_t child = check_fork();

	if (!child) {
		becomes(word, 1);
		check_give(tell, 'x');
		becomes(word, 0);
		exit(0);
	}
	event_on("t_memory", true);
	becomes(word, 1);
	check_take(ask);
	event_on("t_memory", false);
	becomes(word, 0);
	CHECK_EQ(check_wait(child), 0);
}

static void memory(void)
{
	const int rw = PROT_READ | PROT_WRITE;
	unsigned *word = pages(1), *shared = mmap(NULL, PAGE, rw, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned *constant = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = data_file(), fds[2];

	CHECK_CALL(pipe(fds));
	CHECK_ERRNO(reg_word(fd, constant, 0, "t_memory"), EFAULT);
	CHECK_EQ(reg_word(fd, word, 0, "t_memory"), 0);
	CHECK_EQ(reg_word(fd, shared, 4, "t_memory"), 0);
	check_forked(word, fds[0], fds[1]);
	CHECK_EQ(*shared, 0);
	/* A child that ends its own place leaves its parent's. */
	event_on("t_memory", true);
	becomes(word, 1);
	pid_t child = check_fork();
	if (!child)
		exit(unreg_word(fd, word, 0) || word_at(word) != 0);
	CHECK_EQ(check_wait(child), 0);
	CHECK_EQ(word_at(word), 1);
	CHECK_EQ(word_at(shared), 0x10);
	/* A page that may not be written keeps its bit; what is mapped there later is written again. */
	CHECK_CALL(protect(word, PROT_READ));
	event_on("t_memory", false);
	becomes(shared, 0);
	CHECK_EQ(word_at(word), 1);
	CHECK_CALL(munmap(word, PAGE));
	event_on("t_memory", true);
	becomes(shared, 0x10);
	CHECK_EQ(mmap(word, PAGE, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), word);
	event_on("t_memory", false);
	becomes(shared, 0);
	event_on("t_memory", true);
	becomes(word, 1);
	event_on("t_memory", false);
	becomes(word, 0);
	/* exec and exit end the places of an address space. */
	close(fd);
	child = check_fork();
	if (!child) {
		run("true", NULL);
		exit(1);
	}
	CHECK_EQ(check_wait(child), 0);
	CHECK_EQ(access("events/user_events/t_memory", F_OK), 0);
	fd = data_file();
	CHECK_EQ(unreg_word(fd, word, 0), 0);
	CHECK_EQ(unreg_word(fd, shared, 4), 0);
	await_gone("t_memory");
	child = check_fork();
	if (!child) {
		CHECK_EQ(reg_word(data_file(), word, 0, "t_exec"), 0);
		run("sh", "until test ! -e events/user_events/t_exec; do usleep 1000; done");
		exit(1);
	}
	CHECK_EQ(check_wait(child), 0);
}

/* ---- races: the event is switched while a fork copies the program */

#define RACES	   100
#define RACE_PAGES 300 /* a fork takes its time */

static void race_toggle(int go, int done)
{
	for (unsigned i = 1; i <= RACES; i++) {
		check_take(go);
		event_on("t_races", i & 1);
		check_give(done, 'x');
	}
}

static void races(void)
{
	unsigned *word = pages(RACE_PAGES);
	int fd = data_file(), go[2], done[2];
	pid_t toggler, child;

	CHECK_CALL(pipe(go));
	CHECK_CALL(pipe(done));
	memset(word, 0, RACE_PAGES * PAGE);
	toggler = check_fork();
	if (!toggler) {
		race_toggle(go[0], done[1]);
		exit(check_failures != 0);
	}
	CHECK_EQ(reg_word(fd, word, 0, "t_races"), 0);
	for (unsigned i = 1; i <= RACES; i++) {
		check_give(go[1], 'x');
		child = check_fork();
		if (!child) {
			becomes(word, i & 1);
			exit(0);
		}
		check_take(done[0]);
		CHECK_EQ(check_wait(child), 0);
		becomes(word, i & 1);
	}
	CHECK_EQ(check_wait(toggler), 0);
}

/* ---- writes */

static long put_vec(int fd, const struct iovec *vec, unsigned n)
{
	return check_syscall(SYS_writev, fd, (long)vec, n, 0, 0, 0);
}

static long put_at(int fd, const void *bytes, unsigned n, long pos)
{
	return check_syscall(SYS_pwrite64, fd, (long)bytes, n, pos, 0, 0);
}

static void writes(void)
{
	static unsigned word;
	int fd = data_file(), index = reg_word(fd, &word, 0, "t_writes u16 a; u32 b"), second = 7, negative = -1;
	unsigned char record[10] = {0, 0, 0, 0, 1, 2, 3, 4, 5, 6};
	struct iovec vec[3] = {{&index, 2}, {(char *)&index + 2, 2}, {record + 4, 6}};
	char *big = pages(20);

	CHECK_EQ(index, 0);
	CHECK_ERRNO(write(fd, record, 3), EFAULT);
	CHECK_ERRNO(write(fd, &negative, 4), EINVAL);
	CHECK_ERRNO(write(fd, &second, 4), ENOENT);
	CHECK_ERRNO(write(fd, record, 9), EINVAL); /* too short, also while the event is off */
	CHECK_ERRNO(write(fd, record, 10), EBADF);
	CHECK_ERRNO(read(fd, record, 10), EINVAL);
	event_on("t_writes", true);
	CHECK_EQ(write(fd, record, 10), 10);
	CHECK_EQ(put_vec(fd, vec, 3), 10);
	vec[2].iov_base = (void *)16;
	CHECK_ERRNO(put_vec(fd, vec, 3), EFAULT);
	CHECK_ERRNO(put_at(fd, record, 10, 4), EFAULT);
	CHECK_EQ(put_at(fd, record, 10, 0), 10);
	memcpy(big, record, 10);
	CHECK_EQ(write(fd, big, 4010), 4010); /* more than the fields say */
	CHECK_EQ(write(fd, big, 5000), 5000); /* and more than the buffer takes */
	CHECK_EQ(write(fd, big, 20 * PAGE), 20 * PAGE);
	event_on("t_writes", false);
	CHECK_ERRNO(write(fd, record, 10), EBADF);
	CHECK_ERRNO(write(data_file(), record, 10), ENOENT); /* indices are of an open file */
}

/* ---- strings: a word must not lead out of the record */

static long put_string(int fd, unsigned where, const char *text, unsigned n)
{
	unsigned index = 0;
	struct iovec vec[3] = {{&index, 4}, {&where, 4}, {(void *)text, n}};

	return put_vec(fd, vec, 3);
}

static void strings(void)
{
	static unsigned word;
	int rel = data_file(), loc = data_file();

	CHECK_EQ(reg_word(rel, &word, 0, "t_rel __rel_loc char[] text"), 0);
	CHECK_EQ(reg_word(loc, &word, 1, "t_loc __data_loc char[] text"), 0);
	event_on("t_rel", true);
	event_on("t_loc", true);
	CHECK_EQ(put_string(rel, DYN_LOC(0, 5), "Test", 5), 13);
	CHECK_EQ(put_string(rel, DYN_LOC(0, 0), "", 0), 8);
	CHECK_ERRNO(put_string(rel, DYN_LOC(1, 5), "Test", 5), EFAULT);
	CHECK_ERRNO(put_string(rel, DYN_LOC(1024, 5), "Test", 5), EFAULT);
	CHECK_ERRNO(put_string(rel, DYN_LOC(0, 1024), "Test", 5), EFAULT);
	CHECK_ERRNO(put_string(rel, DYN_LOC(0, 4), "Test", 5), EFAULT);
	CHECK_ERRNO(put_string(rel, DYN_LOC(0xffff, 0xffffu), "Test", 5), EFAULT);
	/* From the record's beginning, with the eight bytes that all records have. */
	CHECK_EQ(put_string(loc, DYN_LOC(12, 5), "Text", 5), 13);
	CHECK_ERRNO(put_string(loc, DYN_LOC(13, 5), "Text", 5), EFAULT);
	CHECK_ERRNO(put_string(loc, DYN_LOC(0, 8), "Text", 5), EFAULT);
	CHECK_ERRNO(put_string(loc, DYN_LOC(0, 0), "Text", 5), EFAULT);
	event_on("t_rel", false);
	event_on("t_loc", false);
}

/* ---- rights: events that stay are a matter of CAP_PERFMON */

static void as_user(void)
{
	static unsigned word;
	int fd = data_file();
	struct user_reg reg = reg_of(&word, 4, 0, "t_rights u8 a");

	CHECK_CALL(check_syscall(SYS_setuid, 1000, 0, 0, 0, 0, 0));
	reg.flags = USER_EVENT_REG_PERSIST;
	CHECK_ERRNO(ioctl(fd, DIAG_IOCSREG, &reg), EPERM);
	reg.flags = 0;
	CHECK_CALL(ioctl(fd, DIAG_IOCSREG, &reg));
	CHECK_CALL(unreg_word(fd, &word, 0));
	CHECK_ERRNO(ioctl(fd, DIAG_IOCSDEL, "t_stays"), EPERM);
}

static void rights(void)
{
	static unsigned word;
	int fd = data_file();
	struct user_reg reg = reg_of(&word, 4, 0, "t_stays");

	reg.flags = USER_EVENT_REG_PERSIST;
	CHECK_CALL(ioctl(fd, DIAG_IOCSREG, &reg));
	CHECK_CALL(unreg_word(fd, &word, 0));
	close(fd);
	CHECK_EQ(check_in_child(as_user), 0);
	fd = data_file();
	await_gone("t_rights");
	CHECK_EQ(access("events/user_events/t_stays", F_OK), 0);
	CHECK_CALL(ioctl(fd, DIAG_IOCSDEL, "t_stays"));
	CHECK_ERRNO(access("events/user_events/t_stays", F_OK), ENOENT);
}

/* ---- forms: several of one name */

static void forms(void)
{
	static unsigned word;
	int fd = data_file();
	struct user_reg reg = reg_of(&word, 4, 0, "t_forms u32 a");
	char path[80];

	CHECK_CALL(reg_word(fd, &word, 9, "t_forms"));
	CHECK_ERRNO(reg_word(fd, &word, 10, "t_forms u32 a"), EADDRINUSE);
	reg.flags = USER_EVENT_REG_MULTI_FORMAT;
	for (unsigned i = 0; i < 4; i++) {
		reg.enable_bit = i;
		reg.name_args = (unsigned long)(i & 1 ? "t_forms u64 a" : "t_forms u32 a");
		CHECK_CALL(ioctl(fd, DIAG_IOCSREG, &reg));
		CHECK_EQ(reg.write_index, 1 + (i & 1));
	}
	/* The first number in this guest is that of this case. */
	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "events/user_events_multi/t_forms.%u/enable", i);
		check_put(path, "1");
	}
	CHECK_EQ(word_at(&word), 0xf);
	check_put("events/user_events_multi/t_forms.1/enable", "0");
	CHECK_EQ(word_at(&word), 0x5);
	check_put("events/user_events_multi/enable", "0");
	CHECK_EQ(word_at(&word), 0);
}

/* ---- make: for the script */

static int make(const char *form, long repeat, char **hex, int n)
{
	static unsigned word;
	unsigned char bytes[512];
	int fd = open(FILES, O_RDWR), index = reg_word(fd, &word, 0, form);
	struct pollfd in = {.fd = 0, .events = POLLIN};
	size_t len = 4;

	if (index < 0) {
		printf("%s: %s\n", form, strerror(errno));
		return 1;
	}
	memcpy(bytes, &index, 4);
	for (int i = 0; i < n; i++)
		bytes[len++] = (unsigned char)strtol(hex[i], NULL, 16);
	while (repeat) {
		if (poll(&in, 1, 1))
			break;
		if (!word_at(&word) || access("/tmp/write", F_OK))
			continue;
		if (write(fd, bytes, len) < 0)
			printf("write: %s\n", strerror(errno));
		repeat--;
	}
	poll(&in, 1, -1);
	return 0;
}

/* ---- storm: while another program switches the event on and off */

#define STORM_FORM "t_storm u32 a; __rel_loc char[] text"
static unsigned long seed;

static unsigned below(unsigned n)
{
	return watch_random(&seed) % n;
}

static unsigned *storm_words;
static int storm_fd;

static void storm_write(void)
{
	unsigned record[5] = {0, below(1000), DYN_LOC(0, 5), 0x74736554, 0};

	if (write(storm_fd, record, sizeof(record)) < 0)
		CHECK(errno == EBADF || errno == ENOENT);
}

static void storm_step(void)
{
	unsigned *word = storm_words + below(4) * (PAGE / 4) + below(2) * 8;
	char *page = (char *)((unsigned long)word & ~(PAGE - 1));

	switch (below(8)) {
	case 0:
	case 1:
		if (reg_word(storm_fd, word, below(2), STORM_FORM) < 0)
			CHECK(errno == EADDRINUSE || errno == EFAULT);
		break;
	case 2:
		if (unreg_word(storm_fd, word, below(2)) < 0)
			CHECK(errno == ENOENT || errno == EFAULT);
		break;
	case 3:
		protect(page, below(2) ? PROT_READ : PROT_READ | PROT_WRITE);
		break;
	case 4:
		munmap(page, PAGE);
		mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	case 5:
		close(storm_fd);
		storm_fd = open(FILES, O_RDWR);
		break;
	default:
		storm_write();
	}
}

/* A child goes on for a while, and ends by exit or exec, with all that it has. */
static void storm_child(unsigned depth, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		storm_step();
		if (depth && !below(16)) {
			pid_t child = check_fork();

			if (!child) {
				seed += 0x9e3779b97f4a7c15UL;
				storm_child(depth - 1, steps / 2);
				if (below(2))
					run("true", NULL);
				_exit(check_failures != 0);
			}
			if (child > 0 && below(2))
				CHECK_EQ(check_wait(child), 0);
		}
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static int storm(long n, long from)
{
	seed = (unsigned long)from * 2654435761UL + 1;
	storm_words = pages(4);
	storm_fd = open(FILES, O_RDWR);
	storm_child(2, (unsigned)n);
	return check_failures != 0;
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"refused", refused}, {"bits", bits},	    {"memory", memory}, {"races", races},
		{"writes", writes},   {"strings", strings}, {"rights", rights}, {"forms", forms},
	};

	if (argc > 3 && !strcmp(argv[1], "make"))
		return make(argv[2], atol(argv[3]), argv + 4, argc - 4);
	if (argc == 4 && !strcmp(argv[1], "storm"))
		return storm(atol(argv[2]), atol(argv[3]));
	check_seconds = 40;
	return check_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
