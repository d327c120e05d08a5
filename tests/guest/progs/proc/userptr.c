/*
 * userptr: every pointer that a system call takes, nested ones too, with addresses that are not the caller's:
 * EFAULT, and nothing read or written.
 *
 * The addresses are mapped in the kernel, or a missing check would go unnoticed. The best of them is the
 * linear map's of a page of this program: what the kernel writes there is seen here, and what it reads there
 * is good for the call, so that a call without a check does not fail. It comes first, before those at which
 * such a call brings the kernel down. tests/guest/proc/test_user_pointers.py compares the addresses that are
 * printed with the kernel's page tables.
 *
 * A row is one pointer of one call. A call in the kernel's table that has no row gets one for each pointer that its
 * event sys_enter_NAME shows.
 */
#include <rows/userptr.h>
#include <numbers.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread.h>
#include <watch.h>

#define PAGE  4096UL
#define AT    1024 /* where in the page */
#define BLOCK 64   /* bytes that most calls with a buffer are to read or write: BYTES of the rows */
#ifdef __aarch64__
#define PAGE_OFFSET 0xffffff8000000000UL
#define TASK_SIZE   0x8000000000UL
#else
#define PAGE_OFFSET 0xffff888000000000UL
#define TASK_SIZE   0x7ffffffff000UL
#endif

static unsigned char *page;	    /* shared, so that it stays the same page over fork() */
static unsigned char pattern[PAGE]; /* what stands in it */
static volatile struct progress {   /* shared with the parent, for its message */
	const char *call, *what, *address;
	int steps; /* counts up with each call: a child that goes on is left alone, whatever the host is busy with */
	int done;
} * progress;

static const struct call {
	const char *name;
	int nr;
} all_calls[] = {
#define SYSCALL(nr, name, ...) {#name, (nr)},
#include <generated/syscall_table.h>
#undef SYSCALL
};

/* Their addresses are stored, and who uses them is tested in used_later(), or they are not looked at. */
static const char unread[] = " reboot rseq rt_sigreturn set_robust_list set_tid_address ";

static bool is_unread(const char *name)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(unread, word);
}

static bool has_row(const struct row *rows, size_t n, int nr)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].nr == nr)
			return true;
	return false;
}

/*
 * A row for each pointer of a call, as its event sys_enter_NAME has its arguments: numbers are BLOCK, other pointers
 * lead to a page of text. A call that says something else than EFAULT to these wants rows of its own. Returns how many.
 */
static size_t rows_of_event(const struct call *call, struct row *rows)
{
	static char text[4096] __attribute__((aligned(4096)));
	char path[128], *format, *field;
	size_t n = 0, arg = 0;
	bool pointer[6] = {0};

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/syscalls/sys_enter_%s/format", call->name);
	format = vt_read_file(path, NULL);
	if (!format || !(field = strstr(format, "__syscall_nr;"))) {
		check_failures++;
		printf("  %s has neither rows nor an event: add a row for each of its pointers to "
		       "progs/lib/rows/userptr_rows.c\n",
		       call->name);
		return 0;
	}
	for (; arg < 6 && (field = strstr(field, "field:")); arg++) {
		pointer[arg] = memchr(field, '*', strcspn(field, ";"));
		field += strlen("field:");
	}
	for (size_t bad = 0; bad < arg; bad++) {
		if (!pointer[bad])
			continue;
		rows[n] = (struct row){.call = call->name, .nr = call->nr, .what = "a pointer that its event names"};
		for (size_t i = 0; i < arg; i++)
			rows[n].a[i] = i == bad ? X : pointer[i] ? (long)text : BLOCK;
		n++;
	}
	free(format);
	return n;
}

/* Every call of the kernel's that has no row gets those that its event gives. Returns how many rows there are then. */
static size_t add_rows(struct row *rows, size_t n)
{
	size_t known = n;

	for (size_t c = 0; c < ARRAY_SIZE(all_calls); c++)
		if (!has_row(rows, known, all_calls[c].nr) && !is_unread(all_calls[c].name))
			n += rows_of_event(&all_calls[c], &rows[n]);
	return n;
}

/* --- addresses --- */

enum kind { LINEAR, KERNEL, EDGE, BLOCK_END, NOWHERE };

struct address {
	const char *name;
	unsigned long at;
	enum kind kind;
};
static struct address addresses[24];
static int n_addresses;
static unsigned char *last_byte; /* of user space */

static void add(const char *name, unsigned long at, enum kind kind)
{
	addresses[n_addresses++] = (struct address){name, at, kind};
}

static unsigned long symbol(const char *name)
{
	static char *text;
	char wanted[64], *at;

	if (!text && !(text = vt_read_file("/proc/kallsyms", NULL)))
		vt_die_errno(2, "/proc/kallsyms");
	snprintf(wanted, sizeof(wanted), " %s\n", name);
	at = strstr(text, wanted);
	if (!at)
		vt_die(2, "no %s in /proc/kallsyms", name);
	while (at > text && at[-1] != '\n')
		at--;
	return strtoul(at, NULL, 16);
}

/* The frame of a page of ours. Root may know it. */
static unsigned long frame_of(const void *at)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	unsigned long entry = 0;

	if (fd < 0 || CALL(pread64, fd, &entry, 8, (unsigned long)at / PAGE * 8) != 8 || !(entry >> 63))
		vt_die(2, "/proc/self/pagemap does not say where a page is");
	close(fd);
	return entry & ((1UL << 55) - 1);
}

/* The last page of user space, unless the stack has it already: then nothing is mapped over it. */
static void find_last_byte(void)
{
	void *last = (void *)(TASK_SIZE - PAGE);
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;

	if (mmap(last, PAGE, PROT_READ | PROT_WRITE, flags, -1, 0) == last || errno == EEXIST)
		last_byte = (unsigned char *)TASK_SIZE - 1;
	else
		vt_die_errno(2, "the last page of user space");
	*last_byte = 'z';
}

static void find_addresses(void)
{
	unsigned long frame, nowhere;

	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	nowhere = (unsigned long)mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || munmap((void *)nowhere, 3 * PAGE))
		vt_die_errno(2, "mmap");
	page[0] = 1;
	frame = frame_of(page);
	find_last_byte();
	add("the linear map", PAGE_OFFSET + frame * PAGE + AT, LINEAR);
	add("the end of user space", TASK_SIZE, NOWHERE);
	add("the last byte of user space", TASK_SIZE - 1, EDGE);
	add("a byte too near to the end of user space", TASK_SIZE - BLOCK + 1, BLOCK_END);
	add("a user page that is not there", nowhere + PAGE, NOWHERE);
	add("the kernel's data", symbol("nodename") & ~7UL, KERNEL);
	add("the kernel's text", symbol("_text"), KERNEL);
	add("a page of the linear map", PAGE_OFFSET + frame * PAGE, KERNEL);
	add("the kernel's linear map, unaligned", PAGE_OFFSET + frame * PAGE + AT + 1, KERNEL);
	add("no canonical address", 0x0000800000000000UL, NOWHERE);
	add("an address of 49 bits", 0x0001000000000000UL, NOWHERE);
	add("the sign bit", 1UL << 63, NOWHERE);
	add("the last byte of all", ~0UL, NOWHERE);
	add("eight bytes from the end of all", -8UL, NOWHERE);
	printf("linear %lx is physical %lx\n", PAGE_OFFSET + frame * PAGE, frame * PAGE);
	printf("text %lx data %lx\n", symbol("_text"), symbol("nodename"));
}

/* --- one call --- */

/* The page as it is before a call: what `good` has to be read, and else nothing but 'a's in words of sixteen.
 */
static void lay_out(const struct row *r)
{
	for (unsigned i = 0; i < PAGE; i++)
		pattern[i] = i % 16 == 15 ? 0 : 'a';
	if (r->good)
		memcpy(pattern + AT, r->good, r->good_size);
	memcpy(page, pattern, PAGE);
}

static int errno_wanted(const struct row *r, const struct address *a)
{
	if (r->align && a->at % r->align)
		return EINVAL;
	return r->wanted ? r->wanted : EFAULT;
}

static bool complain(const struct row *r, const struct address *a)
{
	check_failures++;
	fflush(stdout); /* should a later one end the process */
	printf("  %s, %s at %s (%#lx): ", r->call, r->what, a->name, a->at);
	return false;
}

static bool end_is_whole(void)
{
	for (int i = 0; i <= BLOCK; i++)
		if (*(last_byte - i) != 'z')
			return false;
	return true;
}

/* Calls that take or give just BLOCK bytes. */
static bool whole_block(const struct row *r)
{
	for (int i = 0; i < 5; i++)
		if (r->a[i] == X && r->a[i + 1] == BLOCK)
			return r->nr == SYS_read || r->nr == SYS_pread64 || r->nr == SYS_write ||
			       r->nr == SYS_pwrite64 || r->nr == SYS_getrandom;
	return false;
}

static const char *text_of(long result)
{
	static char text[64];

	if (result < 0)
		return strerror((int)-result);
	snprintf(text, sizeof(text), "%ld", result);
	return text;
}

/* The row's call with this address for its pointer. What it returned and left behind is looked at. */
static bool one_call(const struct row *r, const struct address *a)
{
	int fd = dup(0), after, wanted = errno_wanted(r, a), me = getpid();
	long x[6], result;

	close(fd);
	lay_out(r);
	if (r->before)
		r->before();
	for (int i = 0; i < 6; i++)
		x[i] = r->a[i] == X ? (long)a->at : r->a[i];
	if (r->slot)
		*r->slot = (void *)a->at;
	memset(last_byte - BLOCK, 'z', BLOCK + 1);
	result = vt_syscall(r->nr, x[0], x[1], x[2], x[3], x[4], x[5]);
	if (vt_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) != me)
		vt_syscall(SYS_exit_group, 0, 0, 0, 0, 0, 0);
	if (result != (r->succeeds ? 0 : -wanted) && !(r->succeeds && result > 0))
		return complain(r, a), printf("%s, not %s\n", text_of(result), strerror(wanted)), false;
	if (memcmp(page, pattern, PAGE))
		return complain(r, a), printf("the kernel has written there\n"), false;
	if (!end_is_whole())
		return complain(r, a), printf("a part was written\n"), false;
	if (r->after)
		r->after();
	after = dup(0);
	close(after);
	if (after != fd)
		return complain(r, a), printf("a descriptor is open behind it\n"), false;
	return true;
}

static bool fits(const struct row *r, const struct address *a)
{
	if (a->kind == EDGE && r->one_byte)
		return false; /* that much is there */
	if (a->kind == BLOCK_END)
		return whole_block(r) && !r->few;
	return a->kind == KERNEL || a->kind == LINEAR || !r->kernel_only;
}

static void all_rows(const struct row *rows, size_t n)
{
	for (int i = 0; i < n_addresses; i++) {
		for (size_t k = 0; k < n; k++) {
			progress->call = rows[k].call;
			progress->what = rows[k].what;
			progress->address = addresses[i].name;
			progress->steps++;
			if (fits(&rows[k], &addresses[i]))
				one_call(&rows[k], &addresses[i]);
		}
		fflush(stdout);
		if (!check_failures)
			continue;
		/* The next addresses may be the kernel's end. What TIOCSTI has typed is not for the shell. */
		CALL(ioctl, open("/dev/console", O_RDWR | O_NOCTTY | O_NONBLOCK), 0x540b, 0);
		break;
	}
}

/* --- addresses that are stored and used later --- */

static unsigned long linear;

static void robust_list_of_the_kernels(void)
{
	CALL(set_robust_list, linear, 24);
}

/* A good head, whose entries are not: the word that is ours by its number is to stay. */
static void robust_entry_of_the_kernels(void)
{
	static unsigned long head[3];

	head[0] = (unsigned long)head;
	head[2] = linear;
	((unsigned *)(page + AT))[0] = (unsigned)getpid();
	memcpy(pattern, page, PAGE);
	CALL(set_robust_list, head, 24);
}

/* Another task has our memory, so that the word counts when we end. */
static void outlive(void *arg)
{
	check_sleep(50000000);
}

static void tid_address_of_the_kernels(void)
{
	CALL(set_tid_address, linear);
	thread_start(-1, outlive, NULL);
}

static void end(int sig)
{
	_exit(0);
}

static void signal_on_the_kernels_stack(void)
{
	struct {
		unsigned long sp;
		int flags, pad;
		unsigned long size;
	} stack = {linear, 0, 0, 2048};
	struct sigaction act = {.sa_handler = end, .sa_flags = SA_ONSTACK};

	if (!CALL(sigaltstack, &stack, 0)) {
		sigaction(SIGUSR1, &act, NULL);
		kill(getpid(), SIGUSR1);
	}
}

/* With the stack pointer in the kernel's memory: a frame must not be written there, nor one be read. */
static void sigreturn_from_the_kernels_stack(void)
{
#ifdef __aarch64__
	__asm__ volatile("mov sp, %0\n\tmov x8, %1\n\tsvc #0" : : "r"(linear), "i"(SYS_rt_sigreturn) : "memory", "x8");
#else
	__asm__ volatile("mov %0, %%rsp\n\tmov %1, %%eax\n\tsyscall" : : "r"(linear), "i"(SYS_rt_sigreturn) : "memory");
#endif
}

static void fault_on_the_kernels_stack(void)
{
	struct sigaction act = {.sa_handler = end};

	sigaction(SIGSEGV, &act, NULL);
	sigaction(SIGILL, &act, NULL);
#ifdef __aarch64__
	__asm__ volatile("mov sp, %0\n\tudf #0" : : "r"(linear) : "memory");
#else
	__asm__ volatile("mov %0, %%rsp\n\tud2" : : "r"(linear) : "memory");
#endif
}

static void read_of_the_kernels_memory(void)
{
	char got[16];
	int fd = open("/proc/self/mem", O_RDWR);

	CHECK(CALL(pread64, fd, got, 16, linear) == -1);
	CHECK(CALL(pwrite64, fd, "0123456789abcdef", 16, linear) == -1);
}

static const struct later {
	const char *name;
	void (*f)(void);
	int signal; /* it dies of */
} later[] = {
	{"set_robust_list", robust_list_of_the_kernels, 0},
	{"an entry of a robust list", robust_entry_of_the_kernels, 0},
	{"the stack of a signal handler", signal_on_the_kernels_stack, SIGSEGV},
	{"the frame of rt_sigreturn", sigreturn_from_the_kernels_stack, SIGSEGV},
	{"the stack at a fault", fault_on_the_kernels_stack, SIGSEGV},
	{"/proc/self/mem", read_of_the_kernels_memory, 0},
	{"set_tid_address", tid_address_of_the_kernels, 0},
};

static void used_later(void)
{
	static const struct row empty;

	linear = addresses[0].at;
	for (size_t i = 0; i < ARRAY_SIZE(later); i++) {
		int status;

		lay_out(&empty);
		progress->call = later[i].name;
		progress->what = "used later";
		progress->address = addresses[0].name;
		progress->steps++;
		status = check_in_child(later[i].f);
		if (i == 1)
			memcpy(pattern + AT, page + AT, 4); /* the child's own number */
		if (!(WIFSIGNALED(status) ? WTERMSIG(status) == later[i].signal : status == 0 && !later[i].signal)) {
			check_failures++;
			printf("  %s in the linear map: status %#x, not signal %d\n", later[i].name, status,
			       later[i].signal);
		}
		if (memcmp(page, pattern, PAGE) || (i == 1 && *(unsigned *)(page + AT) & 0x40000000)) {
			check_failures++;
			printf("  %s in the linear map: the kernel has written there\n", later[i].name);
		}
	}
}

/* userptr: prints the addresses, then what is wrong. Status 0 when nothing is. */
int main(int argc, char **argv)
{
	size_t n;
	struct row *rows;
	int status;
	pid_t pid;

	progress = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	find_addresses();
	/* In a child: a call that passes for good may replace or end the process, and somebody has to say so.
	 */
	pid = check_fork();
	if (pid == 0) {
		rows = userptr_rows(&n);
		n = add_rows(rows, n);
		all_rows(rows, n);
		if (!check_failures)
			used_later();
		printf("userptr: %d pointers, %d addresses\n", (int)n, n_addresses);
		fflush(stdout);
		progress->done = 1;
		_exit(check_failures ? 1 : 0);
	}
	watch_init();
	status = watch_steps(pid, 12000, &progress->steps); /* a call that passes may wait for ever */
	if (!progress->done)
		printf("  %s, %s at %s: has ended the test (status %#x)\n", progress->call, progress->what,
		       progress->address, status);
	return vt_finish(status ? 1 : !progress->done);
}
