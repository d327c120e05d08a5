/*
 * exectest: the file of a running program. Nobody writes it while it runs and nobody runs it while it is written; what
 * exec makes of headers that are odd or bad; and what a program gets behind its .bss.
 */
#include <callnumbers.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <uapi/elf.h>

#define D     "/tmp/exectest"
#define COPY  D "/copy"
#define OTHER D "/other"

#define PAGE	   4096
#define PROBE_ADDR 0x10000000UL /* where the added segment lies: above the program's own */
#define PROBE_FILE 16		/* bytes of it in the file */
#define PROBE_BYTE 0xaa

/* What is looked at in the headers of a 64-bit ELF file. */
struct ehdr {
	unsigned char ident[16];
	unsigned short type, machine;
	unsigned version;
	unsigned long entry, phoff, shoff;
	unsigned flags;
	unsigned short ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};
struct phdr {
	unsigned type, flags;
	unsigned long offset, vaddr, paddr, filesz, memsz, align;
};

extern char **environ;

static unsigned char *image; /* this program, with room for a page behind it */
static size_t size;

static void install(const char *path, size_t n)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
	if (fd < 0 || vt_write_all(fd, image, n) || close(fd))
		vt_die_errno(2, path);
}

/* A child that runs `path`: with "wait" until it is given a byte or the end. */
struct running {
	pid_t pid;
	int in, out;
};

static void exec_path(const char *path, const char *what)
{
	char *const argv[] = {(char *)path, (char *)what, NULL};

	execve(path, argv, environ);
}

/* Returns when the program runs: it has said so. */
static struct running start(const char *path)
{
	struct running copy;
	int in[2], out[2];

	if (pipe(in) || pipe(out))
		vt_die_errno(2, "pipe");
	copy.pid = check_fork();
	if (copy.pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		for (int fd = 3; fd < 20; fd++)
			close(fd);
		exec_path(path, "wait");
		_exit(2);
	}
	close(in[0]);
	close(out[1]);
	copy.in = in[1];
	copy.out = out[0];
	CHECK_EQ(check_take(copy.out), 'r');
	return copy;
}

static void stop(struct running *copy)
{
	close(copy->in);
	close(copy->out);
	CHECK_EQ(check_wait(copy->pid), 0);
}

/* One field of /proc/self/stat by its number in proc(5), which is 3 or more. */
static unsigned long stat_field(int number)
{
	char *text = vt_read_file("/proc/self/stat", NULL), *at = text ? strrchr(text, ')') : NULL;
	unsigned long value;

	if (!at)
		vt_die_errno(2, "/proc/self/stat");
	while (number-- >= 3)
		at = strchr(at + 1, ' ');
	value = strtoul(at + 1, NULL, 10);
	free(text);
	return value;
}

/*
 * The first executable segment is the code of a program (fields 26 and 27), and the last other one its data (45). The
 * added segment is executable too, but it is not the first.
 */
static int layout_is_right(void)
{
	unsigned long here = (unsigned long)layout_is_right;

	return stat_field(26) <= here && here < stat_field(27) && stat_field(45) == PROBE_ADDR ? 0 : 1;
}

/* exec makes every action the default one: no handler, no flags and an empty mask. */
static int actions_are_default(void)
{
	struct sigaction now;

	for (int sig = 1; sig < 32; sig++)
		if (sigaction(sig, NULL, &now) || now.sa_handler != SIG_DFL || now.sa_flags || now.sa_mask)
			return sig;
	return 0;
}

/* In the copy. The child that "fork" makes has the program too, and ends when its parent's input does. */
static int run_as_copy(const char *what)
{
	const unsigned char *probe = (const unsigned char *)PROBE_ADDR;
	char byte;

	if (!strcmp(what, "wait")) {
		check_give(1, 'r');
		return vt_read(0, &byte, 1) == 0 ? 0 : 1;
	}
	if (!strcmp(what, "probe")) {
		for (int i = 0; i < PAGE; i++)
			if (probe[i] != (i < PROBE_FILE ? PROBE_BYTE : 0))
				return 1;
		return 0;
	}
	if (!strcmp(what, "layout"))
		return layout_is_right();
	if (!strcmp(what, "actions"))
		return actions_are_default();
	return 7;
}

/* The wait status of a child that runs the copy. */
static int run_copy(const char *what)
{
	pid_t pid = check_fork();

	if (pid == 0) {
		exec_path(COPY, what);
		_exit(100);
	}
	return check_wait(pid);
}

/* errno of running the file in a child, or 0. */
static int exec_errno(const char *path)
{
	int status;
	pid_t pid = check_fork();

	if (pid == 0) {
		exec_path(path, "true");
		_exit(errno);
	}
	status = check_wait(pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status) == 7 ? 0 : WEXITSTATUS(status);
}

static int open_errno(const char *path, int flags)
{
	int fd = open(path, flags);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void running_is_not_written(void)
{
	struct running copy;
	char exe[32];

	install(COPY, size);
	copy = start(COPY);
	snprintf(exe, sizeof(exe), "/proc/%d/exe", (int)copy.pid);
	CHECK_EQ(open_errno(COPY, O_WRONLY), ETXTBSY);
	CHECK_EQ(open_errno(COPY, O_RDWR), ETXTBSY);
	CHECK_EQ(open_errno(COPY, O_RDONLY | O_TRUNC), ETXTBSY);
	CHECK_EQ(open_errno(exe, O_WRONLY), ETXTBSY);
	CHECK_ERRNO(CALL(truncate, COPY, 0), ETXTBSY);
	CHECK_ERRNO(CALL(truncate, exe, 0), ETXTBSY);
	CHECK_EQ(open_errno(COPY, O_RDONLY), 0);
	CHECK_EQ(exec_errno(COPY), 0); /* as often as one likes */
	install(COPY, size);	       /* another file of that name */
	CHECK_EQ(open_errno(COPY, O_RDWR), 0);
	CHECK_EQ(open_errno(exe, O_WRONLY), ETXTBSY);
	stop(&copy);
	CHECK_EQ(open_errno("/proc/self/exe", O_WRONLY), ETXTBSY);
}

/* The count is the memory's, whoever has it: a fork's copy keeps writers out, the last end lets them in. */
static void until_the_last_ends(void)
{
	struct running one, two;

	install(COPY, size);
	one = start(COPY);
	two = start(COPY);
	stop(&one);
	CHECK_EQ(open_errno(COPY, O_WRONLY), ETXTBSY);
	CHECK_CALL(kill(two.pid, SIGKILL));
	CHECK_EQ(check_wait(two.pid), SIGKILL);
	CHECK_EQ(open_errno(COPY, O_WRONLY), 0);
	close(two.in);
	close(two.out);
}

static void written_is_not_run(void)
{
	int fd, other;
	void *page;

	install(COPY, size);
	fd = open(COPY, O_WRONLY);
	CHECK_EQ(exec_errno(COPY), ETXTBSY);
	other = dup(fd);
	close(fd);
	CHECK_EQ(exec_errno(COPY), ETXTBSY);
	close(other);
	CHECK_EQ(exec_errno(COPY), 0);
	/* A shared mapping writes without a descriptor. */
	fd = open(COPY, O_RDWR);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(page != MAP_FAILED);
	close(fd);
	CHECK_EQ(exec_errno(COPY), ETXTBSY);
	CHECK_CALL(munmap(page, PAGE));
	CHECK_EQ(exec_errno(COPY), 0);
	/* A mapping that may be executed does not keep writers out. */
	fd = open(COPY, O_RDONLY);
	page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	CHECK(page != MAP_FAILED);
	CHECK_EQ(open_errno(COPY, O_WRONLY), 0);
	munmap(page, PAGE);
	close(fd);
}

static void write_text(const char *path, const char *text)
{
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT, 0755);
	if (fd < 0 || vt_write_all(fd, text, strlen(text)) || close(fd))
		vt_die_errno(2, path);
}

static void scripts(void)
{
	struct running copy;
	int fd;

	install(COPY, size);
	write_text(OTHER, "#!" COPY " wait\n");
	fd = open(OTHER, O_WRONLY);
	CHECK_EQ(exec_errno(OTHER), ETXTBSY);
	close(fd);
	fd = open(COPY, O_WRONLY);
	CHECK_EQ(exec_errno(OTHER), ETXTBSY);
	close(fd);
	copy = start(OTHER); /* the interpreter runs; its script is only read */
	CHECK_EQ(open_errno(OTHER, O_WRONLY), 0);
	CHECK_EQ(open_errno(COPY, O_WRONLY), ETXTBSY);
	stop(&copy);
	CHECK_EQ(open_errno(COPY, O_WRONLY), 0);
}

/* Every failing exec gives back what it took. */
static void failures_undo(void)
{
	static const char *const bad[] = {"no format", "#!" D "/missing\n", "#!" OTHER "\n",
					  "\x7f"
					  "ELF"};

	install(COPY, size);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		write_text(OTHER, bad[i]);
		CHECK(exec_errno(OTHER) != 0);
		CHECK_EQ(open_errno(OTHER, O_RDWR), 0);
	}
	/* Opens for writing that fail count no writer. */
	CHECK_CALL(CALL(fchmodat, AT_FDCWD, COPY, 0555));
	for (int i = 0; i < 3; i++) {
		pid_t pid = check_fork();

		if (pid == 0) {
			become_user(1000);
			_exit(open_errno(COPY, O_WRONLY));
		}
		CHECK_EQ(check_wait(pid), EACCES << 8);
	}
	CHECK_EQ(exec_errno(COPY), 0);
}

/*
 * Two writers and two runners at once. A writer spoils the file's first byte while it has it open: a runner gets in or
 * is told ETXTBSY, but never meets the spoilt header. It goes on until each runner has got in and been kept out often.
 */
#define OFTEN 25
#define MANY  20000 /* tries: far more than it takes */

/* Shared by the four: runners that have seen enough, and what the writers have come to. Only added to. */
static struct tally {
	int runners_done, written, refused;
} * tally;

static void count(int *what)
{
	__atomic_fetch_add(what, 1, __ATOMIC_RELAXED);
}

static void let_others(int times)
{
	while (times--)
		CALL(sched_yield, 0);
}

static int write_often(void)
{
	while (__atomic_load_n(&tally->runners_done, __ATOMIC_RELAXED) < 2) {
		int fd = open(COPY, O_WRONLY);

		if (fd < 0 && errno != ETXTBSY)
			return 10;
		count(fd < 0 ? &tally->refused : &tally->written);
		if (fd >= 0) {
			if (CALL(pwrite64, fd, "x", 1, 0) != 1)
				return 11;
			let_others(2);
			if (CALL(pwrite64, fd, image, 1, 0) != 1)
				return 11;
			close(fd);
		}
		let_others(20);
	}
	return 0;
}

static int run_often(void)
{
	int in = 0, busy = 0;

	for (int i = 0; i < MANY && (in < OFTEN || busy < OFTEN || !tally->written || !tally->refused); i++) {
		int err = exec_errno(COPY);

		if (err && err != ETXTBSY)
			break;
		in += !err;
		busy += err != 0;
	}
	count(&tally->runners_done);
	return in >= OFTEN && busy >= OFTEN ? 0 : 14;
}

static void race(void)
{
	pid_t pid[4];

	install(COPY, size);
	tally = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(tally != MAP_FAILED);
	for (int i = 0; i < 4; i++) {
		pid[i] = check_fork();
		if (pid[i] == 0)
			_exit(i % 2 ? write_often() : run_often());
	}
	for (int i = 0; i < 4; i++)
		CHECK_EQ(check_wait(pid[i]), 0);
	CHECK(tally->written > 0 && tally->refused > 0);
	CHECK_EQ(open_errno(COPY, O_WRONLY), 0);
	CHECK_EQ(exec_errno(COPY), 0);
}

/* The header that says how the stack is becomes `type`: it is the last, and of no use here. */
static struct phdr *last_phdr(unsigned type)
{
	struct ehdr *e = (struct ehdr *)image;
	struct phdr *p = (struct phdr *)(image + e->phoff) + e->phnum - 1;

	*p = (struct phdr){.type = type, .flags = 6, .align = PAGE};
	return p;
}

static struct phdr saved;

static void restore_phdr(void)
{
	*last_phdr(0) = saved;
}

/* A segment of 16 bytes, 32 in memory, in a page of the file that is full of other bytes: zeros to the page's end. */
static void install_with_probe(unsigned flags)
{
	size_t at = (size + PAGE - 1) / PAGE * PAGE;

	memset(image + at, PROBE_BYTE, PAGE);
	*last_phdr(PT_LOAD) = (struct phdr){PT_LOAD, flags, at, PROBE_ADDR, 0, PROBE_FILE, 2 * PROBE_FILE, PAGE};
	install(COPY, at + PAGE);
	restore_phdr();
}

static void behind_bss(void)
{
	install_with_probe(6);
	CHECK_EQ(run_copy("probe"), 0);
	install_with_probe(4); /* read-only: there is nothing that could be zeroed, and the program runs all the same */
	CHECK_EQ(run_copy("true"), 7 << 8);
}

static void layout(void)
{
	install_with_probe(5);
	CHECK_EQ(run_copy("layout"), 0);
}

static void on_signal(int sig)
{
}

/* A handler goes at exec, and so do its flags and its mask. */
static void actions(void)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART, .sa_mask = 1UL << (SIGTERM - 1)};

	install(COPY, size);
	CHECK_CALL(sigaction(SIGUSR1, &act, NULL));
	CHECK_EQ(run_copy("actions"), 0);
}

static int interp_errno(const char *name, size_t length)
{
	size_t at = (size + PAGE - 1) / PAGE * PAGE;

	memset(image + at, 0, PAGE);
	memcpy(image + at, name, strlen(name));
	*last_phdr(PT_INTERP) = (struct phdr){PT_INTERP, 4, at, 0, 0, length, length, 1};
	install(COPY, at + PAGE);
	restore_phdr();
	return exec_errno(COPY);
}

static void headers(void)
{
	struct ehdr *e = (struct ehdr *)image;
	const char *missing = "/lib/ld-linux-none.so.1";
	int fd;

	CHECK_EQ(interp_errno(missing, strlen(missing) + 1), ENOENT);
	CHECK_EQ(interp_errno(missing, strlen(missing)), ENOEXEC); /* not ended by a zero */
	CHECK_EQ(interp_errno(missing, 1), ENOEXEC);
	CHECK_EQ(interp_errno(missing, PAGE + 1), ENOEXEC);
	CHECK_EQ(interp_errno(D, strlen(D) + 1), EACCES);
	write_text(OTHER, "text that is long enough for the header of an ELF file, of which it has nothing at all");
	CHECK_EQ(interp_errno(OTHER, strlen(OTHER) + 1), ELIBBAD);
	fd = open(OTHER, O_WRONLY);
	CHECK_EQ(interp_errno(OTHER, strlen(OTHER) + 1), ETXTBSY);
	close(fd);
	write_text(OTHER, "short");
	CHECK_EQ(interp_errno(OTHER, strlen(OTHER) + 1), EIO);
	CHECK_EQ(open_errno(OTHER, O_WRONLY), 0);
	e->machine ^= 1;
	install(COPY, size);
	e->machine ^= 1;
	CHECK_EQ(exec_errno(COPY), ENOEXEC);
	install(COPY, sizeof(*e) - 1);
	CHECK_EQ(exec_errno(COPY), ENOEXEC);
	install(COPY, sizeof(*e) + 10);
	CHECK_EQ(exec_errno(COPY), ENOEXEC);
	install(COPY, size / 4);
	CHECK_EQ(exec_errno(COPY), ENOEXEC);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"running_is_not_written", running_is_not_written},
		{"until_the_last_ends", until_the_last_ends},
		{"written_is_not_run", written_is_not_run},
		{"scripts", scripts},
		{"failures_undo", failures_undo},
		{"race", race},
		{"behind_bss", behind_bss},
		{"layout", layout},
		{"actions", actions},
		{"headers", headers},
	};
	struct ehdr *e;

	if (!strcmp(argv[0], COPY) || !strcmp(argv[0], OTHER))
		return run_as_copy(argc > 1 ? argv[1] : "");
	image = (unsigned char *)vt_read_file("/bin/exectest", &size);
	if (!image || mkdir(D, 0755))
		vt_die_errno(2, D);
	image = vt_realloc(image, size + 2 * PAGE);
	e = (struct ehdr *)image;
	saved = ((struct phdr *)(image + e->phoff))[e->phnum - 1];
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
