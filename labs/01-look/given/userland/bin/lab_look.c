/*
 * lab_look QUESTION SEED: does the work that a question of lab look asks about, in a process of its own, which has the
 * name look-QUESTION. What it does follows from the seed.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <vt.h>

#define WORKERS 4
#define MOST	1024 /* steps of a question */

static uint64_t state;

static uint32_t look_random(void)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 33;
}

static void look_begin(long seed, unsigned question)
{
	state = (uint64_t)seed * 1000003 + question;
	for (int i = 0; i < 3; i++)
		look_random();
}

static void pipe_or_die(int fd[2])
{
	if (pipe(fd))
		vt_die_errno(1, "pipe");
}

/* 1: writes, reads and polls of a pipe, which never has to wait. */
static void calls(void)
{
	unsigned share = 30 + look_random() % 40, n = 300 + look_random() % 300, level = 0;
	char data[2000] = {};
	int fd[2];

	pipe_or_die(fd);
	for (unsigned i = 0; i < n; i++) {
		unsigned size = 1 + look_random() % sizeof(data);
		struct pollfd p = {.fd = fd[0], .events = POLLIN};

		if (look_random() % 100 < share && level < 20000)
			level += write(fd[1], data, size);
		else if (level)
			level -= read(fd[0], data, size);
		else
			poll(&p, 1, 0);
	}
}

/* The letter of /proc/PID/stat: S sleeps. */
static char state_of(pid_t pid)
{
	char path[32], *text, letter;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	text = vt_read_file(path, NULL);
	letter = text && strchr(text, ')') ? strchr(text, ')')[2] : 0;
	free(text);
	return letter;
}

static int ends[WORKERS][2];
static pid_t *pids;

/* One of the workers: waits for its turn, and then wakes whoever comes next, as soon as that one sleeps. */
static void worker(int me, const unsigned char *order, unsigned n)
{
	char name[16], byte = 0;

	snprintf(name, sizeof(name), "look-%c", 'a' + me);
	prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0);
	for (unsigned i = 0; i < n; i++) {
		if (order[i] != me)
			continue;
		if (read(ends[me][0], &byte, 1) != 1)
			_exit(1);
		if (i + 1 == n)
			continue;
		while (state_of(pids[order[i + 1]]) != 'S')
			sched_yield();
		if (write(ends[order[i + 1]][1], &byte, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* 2: four processes that wake each other. */
static void wakes(void)
{
	unsigned n = 200 + look_random() % 200, usual = look_random() % 3;
	unsigned char order[MOST];

	pids = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	order[0] = 0;
	for (unsigned i = 1; i < n; i++)
		order[i] = (order[i - 1] + 1 + (look_random() % 100 < 60 ? usual : look_random() % 3)) % WORKERS;
	for (int i = 0; i < WORKERS; i++)
		pipe_or_die(ends[i]);
	for (int i = 0; i < WORKERS; i++) {
		pid_t pid = fork();

		if (pid == 0)
			worker(i, order, n);
		pids[i] = pid;
	}
	for (int i = 0; i < WORKERS; i++)
		while (state_of(pids[i]) != 'S')
			sched_yield();
	if (write(ends[0][1], "", 1) != 1)
		vt_die_errno(1, "write");
	for (int i = 0; i < WORKERS; i++)
		wait(NULL);
}

/* 3: calls that fail, each kind as often as it comes. */
static void fails(void)
{
	unsigned n = 200 + look_random() % 200, favourite = look_random() % 8;
	struct stat st;
	int fd[2];

	pipe_or_die(fd);
	for (unsigned i = 0; i < n; i++) {
		switch (look_random() % 100 < 20 ? favourite : look_random() % 8) {
		case 0:
			close(-1);
			break;
		case 1:
			kill(999999, 0);
			break;
		case 2:
			lseek(fd[0], 0, SEEK_SET);
			break;
		case 3:
			chdir("/proc/version");
			break;
		case 4:
			munmap((void *)1, 4096);
			break;
		case 5:
			write(fd[0], "", 1);
			break;
		case 6:
			dup(1000000);
			break;
		default:
			fstat(fd[0], &st); /* it does not fail */
			break;
		}
	}
}

/* 4: makes files, folders, pipes and descriptors. */
static void allocs(void)
{
	unsigned pipes = 3 + look_random() % 90, files = 3 + look_random() % 20, folders = 3 + look_random() % 20;
	char path[32];
	int fd[2];

	for (unsigned i = 0; i < pipes; i++)
		pipe_or_die(fd);
	for (unsigned i = 0; i < files; i++) {
		snprintf(path, sizeof(path), "/tmp/look-f%u", i);
		close(open(path, O_CREAT | O_RDWR, 0600));
	}
	for (unsigned i = 0; i < folders; i++) {
		snprintf(path, sizeof(path), "/tmp/look-d%u", i);
		mkdir(path, 0700);
	}
	for (unsigned i = 0; i < files; i++) {
		snprintf(path, sizeof(path), "/tmp/look-f%u", i);
		unlink(path);
	}
	for (unsigned i = 0; i < folders; i++) {
		snprintf(path, sizeof(path), "/tmp/look-d%u", i);
		rmdir(path);
	}
}

static const struct question {
	const char *name;
	void (*work)(void);
	const char *file; /* of the kernel, which does the work itself */
} questions[] = {
	{"calls", calls, NULL},
	{"wakes", wakes, NULL},
	{"fails", fails, NULL},
	{"allocs", allocs, NULL},
	{"sections", NULL, "/sys/kernel/debug/lab/sections"},
	{"slow", NULL, "/sys/kernel/debug/lab/slow"},
};

/* The kernel's own part: the seed goes to its file. */
static void tell_kernel(const char *path, long seed)
{
	char text[24];
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		vt_die_errno(1, path);
	snprintf(text, sizeof(text), "%ld", seed);
	if (vt_write_all(fd, text, strlen(text)))
		vt_die_errno(1, path);
}

static int run(const struct question *q, long seed)
{
	char name[16];
	pid_t pid = fork();
	int status;

	if (pid < 0)
		vt_die_errno(1, "fork");
	if (pid == 0) {
		snprintf(name, sizeof(name), "look-%s", q->name);
		prctl(PR_SET_NAME, (unsigned long)name, 0, 0, 0);
		look_begin(seed, (unsigned)(q - questions) + 1);
		if (q->work)
			q->work();
		else
			tell_kernel(q->file, seed);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const char help[] = "  QUESTION is calls, wakes, fails, allocs, sections or slow\n";
	struct vt_options o = {
		.usage = "lab_look QUESTION SEED", .options = "", .help = help, .bad_status = 2, .index = 1};
	long seed;

	while (vt_option(&o, argc, argv) >= 0)
		;
	if (argc - o.index != 2)
		vt_usage(&o);
	seed = vt_number_or_die(2, argv[o.index + 1], 1, 1L << 40);
	for (unsigned i = 0; i < ARRAY_SIZE(questions); i++)
		if (!strcmp(argv[o.index], questions[i].name))
			return run(&questions[i], seed);
	vt_warn("there is no question '%s'", argv[o.index]);
	vt_usage(&o);
}
