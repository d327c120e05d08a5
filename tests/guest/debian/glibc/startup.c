/*
 * What a program of glibc finds when it starts, and what the vDSO and rseq(2) do for it. The test links it in each way
 * that there is (tests/guest/debian/test_dynamic.py). The arguments name the checks; each that fails prints a line, and
 * the exit status is their number.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#ifdef __aarch64__
#define PREFIX	"__kernel_"
#define VERSION "LINUX_2.6.39"
#else
#define PREFIX	"__vdso_"
#define VERSION "LINUX_2.6"
#endif
#define PAGE 4096UL

extern char _start[], **environ;

static int failures;

#define CHECK(what) check(what, #what, __LINE__)
static int check(int good, const char *what, int line)
{
	if (!good) {
		printf("startup.c:%d: %s\n", line, what);
		failures++;
	}
	return good;
}

/* The area of /proc/self/maps that holds `at`: its begin, or 0. Its rights and its name. */
static unsigned long area_of(unsigned long at, char *rights, char *name)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to, found = 0;
	char line[512];

	while (!found && fgets(line, sizeof(line), maps)) {
		name[0] = 0;
		if (sscanf(line, "%lx-%lx %4s %*x %*s %*d %255s", &from, &to, rights, name) >= 3 && at >= from &&
		    at < to)
			found = from;
	}
	fclose(maps);
	return found;
}

static int on_phdrs(struct dl_phdr_info *info, size_t size, void *arg)
{
	CHECK((unsigned long)info->dlpi_phdr == getauxval(AT_PHDR) && info->dlpi_phnum == getauxval(AT_PHNUM));
	return 1; /* the first is the program */
}

static void aux(const char *me)
{
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR), base = getauxval(AT_BASE), any = 0;
	const unsigned char *random = (const unsigned char *)getauxval(AT_RANDOM);
	char rights[8], name[256];

	dl_iterate_phdr(on_phdrs, NULL);
	CHECK(getauxval(AT_PHENT) == sizeof(Elf64_Phdr) && getauxval(AT_PAGESZ) == PAGE);
	CHECK(getauxval(AT_ENTRY) == (unsigned long)_start);
	CHECK(!strcmp((char *)getauxval(AT_EXECFN), me));
	CHECK(!strcmp((char *)getauxval(AT_PLATFORM), sizeof(void *) == 8 && PREFIX[2] == 'k' ? "aarch64" : "x86_64"));
	CHECK(getauxval(AT_HWCAP) && getauxval(AT_CLKTCK) == 100 && !getauxval(AT_SECURE));
	CHECK(getauxval(AT_MINSIGSTKSZ) >= 512 && getauxval(AT_MINSIGSTKSZ) < 16384);
	errno = 0;
	getauxval(AT_HWCAP2);
	CHECK(!errno);
	for (int i = 0; i < 16; i++)
		any |= random[i];
	CHECK(any);
	CHECK(area_of(vdso, rights, name) == vdso && !strcmp(name, "[vdso]") && !strcmp(rights, "r-xp"));
	CHECK(area_of(vdso - 1, rights, name) && !strcmp(name, "[vvar]") && !strcmp(rights, "r--p"));
	CHECK(mprotect((void *)(vdso - PAGE), PAGE, PROT_READ | PROT_WRITE) && errno == EACCES);
	CHECK(area_of((unsigned long)&rights, rights, name) && !strcmp(name, "[stack]") && !strcmp(rights, "rw-p"));
#ifdef DYNAMIC
	CHECK(base && area_of(base, rights, name) == base && strstr(name, "/ld-linux"));
#else
	CHECK(!base);
#endif
}

/* The address of a function of the vDSO, by its own tables. */
static void *vdso_function(const char *name)
{
	const char *base = (const char *)getauxval(AT_SYSINFO_EHDR), *strings = NULL;
	const Elf64_Ehdr *e = (const void *)base;
	const Elf64_Phdr *p = (const void *)(base + e->e_phoff);
	const Elf64_Sym *symbols = NULL;
	const Elf64_Verdef *versions = NULL;
	const uint16_t *version_of = NULL;
	const uint32_t *hash = NULL;
	const Elf64_Dyn *d;

	while (p->p_type != PT_DYNAMIC)
		p++;
	for (d = (const void *)(base + p->p_vaddr); d->d_tag != DT_NULL; d++) {
		const void *at = base + d->d_un.d_ptr;

		if (d->d_tag == DT_SYMTAB)
			symbols = at;
		else if (d->d_tag == DT_STRTAB)
			strings = at;
		else if (d->d_tag == DT_HASH)
			hash = at;
		else if (d->d_tag == DT_VERSYM)
			version_of = at;
		else if (d->d_tag == DT_VERDEF)
			versions = at;
	}
	for (unsigned i = 1; i < hash[1]; i++) {
		const Elf64_Verdef *v = versions;

		if (strcmp(strings + symbols[i].st_name, name))
			continue;
		while (v->vd_ndx != version_of[i])
			v = (const void *)((const char *)v + v->vd_next);
		CHECK(!strcmp(strings + ((const Elf64_Verdaux *)((const char *)v + v->vd_aux))->vda_name, VERSION));
		CHECK(ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC && symbols[i].st_size);
		return (void *)(base + symbols[i].st_value);
	}
	return NULL;
}

static long ns(const struct timespec *ts)
{
	return ts->tv_sec * 1000000000 + ts->tv_nsec;
}

typedef int (*gettime)(int clock, struct timespec *ts);

/* Between two calls of the kernel the function gives a time between theirs. */
static void same_clock(gettime function, int clock)
{
	struct timespec before, at = {-1, -1}, after;

	syscall(SYS_clock_gettime, clock, &before);
	CHECK(function(clock, &at) == 0);
	syscall(SYS_clock_gettime, clock, &after);
	CHECK(at.tv_nsec >= 0 && at.tv_nsec < 1000000000);
	if (!CHECK(ns(&before) <= ns(&at) && ns(&at) <= ns(&after)))
		printf("  clock %d: %ld %ld %ld\n", clock, ns(&before), ns(&at), ns(&after));
}

static void vdso(const char *me)
{
	gettime clock_gettime_ = vdso_function(PREFIX "clock_gettime"), getres = vdso_function(PREFIX "clock_getres");
	int (*gettimeofday_)(struct timeval *, struct timezone *) = vdso_function(PREFIX "gettimeofday");
	struct timespec ts, before, after;
	struct timezone tz = {77, 77};
	struct timeval tv;

	if (!CHECK(clock_gettime_ && getres && gettimeofday_))
		return;
	for (int clock = 0; clock <= 7; clock++)
		same_clock(clock_gettime_, clock);
	CHECK(clock_gettime_(8, &ts) != 0 && clock_gettime_(77, &ts) != 0);
	CHECK(clock_gettime_(-6, &ts) == (int)syscall(SYS_clock_gettime, -6, &ts) || errno);
	CHECK(getres(CLOCK_MONOTONIC, &ts) == 0 && ns(&ts) == 1 && getres(CLOCK_REALTIME, NULL) == 0);
	CHECK(getres(CLOCK_THREAD_CPUTIME_ID, &ts) == 0 && ns(&ts) == 1 && getres(77, &ts) != 0);
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &before);
	CHECK(gettimeofday_(&tv, NULL) == 0);
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &after);
	CHECK(ns(&before) / 1000 <= tv.tv_sec * 1000000 + tv.tv_usec &&
	      tv.tv_sec * 1000000 + tv.tv_usec <= ns(&after) / 1000);
	CHECK(gettimeofday_(&tv, &tz) == 0 && tz.tz_minuteswest == 0 && gettimeofday_(NULL, NULL) == 0);
	/* The wall clock is set: both ways show the new time. */
	before.tv_sec += 100000;
	CHECK(clock_settime(CLOCK_REALTIME, &before) == 0);
	CHECK(clock_gettime_(CLOCK_REALTIME, &ts) == 0 && ns(&ts) >= ns(&before) &&
	      ns(&ts) < ns(&before) + 60000000000);
	same_clock(clock_gettime_, CLOCK_REALTIME);
	same_clock(clock_gettime_, CLOCK_MONOTONIC);
#ifdef __x86_64__
	time_t (*time_)(time_t *) = vdso_function("__vdso_time"), now = 0, other;
	int (*getcpu_)(unsigned *, unsigned *, void *) = vdso_function("__vdso_getcpu");

	other = time_(&now);
	CHECK(other == now && now >= before.tv_sec && now < before.tv_sec + 60 && time_(NULL) >= now);
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		unsigned at = 77, node = 77;
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		CHECK(sched_setaffinity(0, sizeof(set), &set) == 0);
		CHECK(getcpu_(&at, &node, NULL) == 0 && at == (unsigned)cpu && node == 0 &&
		      getcpu_(NULL, NULL, NULL) == 0);
	}
#endif
}

/* Under icount a nanosecond is an instruction: how many does one call take, with the loop around it? */
static void cost(const char *me)
{
	gettime function = vdso_function(PREFIX "clock_gettime");
	struct timespec ts, before, after;

	clock_gettime(CLOCK_MONOTONIC, &before);
	for (int i = 0; i < 1000; i++)
		function(CLOCK_MONOTONIC, &ts);
	clock_gettime(CLOCK_MONOTONIC, &after);
	printf("clock_gettime takes %ld instructions\n", (ns(&after) - ns(&before)) / 1000);
}

/* One task sets the wall clock back and forth by 1000 s; readers see one or the other, and never a mix. */
static void torn(const char *me)
{
	gettime function = vdso_function(PREFIX "clock_gettime");
	struct timespec start, ts;
	long base;
	pid_t pid;

	clock_gettime(CLOCK_REALTIME, &start);
	base = start.tv_sec;
	pid = fork();
	if (pid == 0) {
		for (int i = 0;; i++) {
			struct timespec set = {base + (i % 2 ? 1000 : 0), 0};

			clock_settime(CLOCK_REALTIME, &set);
		}
	}
	for (int i = 0; i < 300000; i++) {
		function(CLOCK_REALTIME, &ts);
		ts.tv_sec -= base;
		if (!CHECK((ts.tv_sec >= 0 && ts.tv_sec < 60) || (ts.tv_sec >= 1000 && ts.tv_sec < 1060))) {
			printf("  turn %d: %ld.%09ld\n", i, (long)ts.tv_sec, ts.tv_nsec);
			break;
		}
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* --- C library things that rest on all of this --- */

static __thread int of_thread = 41;
static int constructed;
static __attribute__((constructor)) void construct(void)
{
	constructed = 1;
}

static void *thread(void *arg)
{
	return (void *)(long)++of_thread;
}

static void library(const char *me)
{
	char text[64];
	pthread_t t;
	void *result;

	CHECK(constructed && of_thread == 41);
	CHECK(pthread_create(&t, NULL, thread, NULL) == 0 && pthread_join(t, &result) == 0 && result == (void *)42L);
	CHECK(of_thread == 41);
	snprintf(text, sizeof(text), "%.3f", sqrt(atof("2")));
	CHECK(!strcmp(text, "1.414"));
#ifdef DYNAMIC
	void *m = dlopen("libm.so.6", RTLD_NOW), *v = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	double (*cosine)(double) = m ? (double (*)(double))dlsym(m, "cos") : NULL;

	CHECK(cosine && cosine(0) == 1);
	CHECK(v && dlvsym(v, PREFIX "clock_gettime", VERSION) == vdso_function(PREFIX "clock_gettime"));
#endif
}

static unsigned long seen_ip[32];
static int n_seen;

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
	if (n_seen < 32)
		seen_ip[n_seen++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static void on_signal(int sig)
{
	_Unwind_Backtrace(on_frame, NULL);
}

/* A walk of the stack in a handler gets through the vDSO's code, or the restorer, to the interrupted function. */
static __attribute__((noinline)) void unwind(const char *me)
{
	int found = 0;

	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	for (int i = 0; i < n_seen; i++)
		found |= seen_ip[i] > (unsigned long)unwind && seen_ip[i] < (unsigned long)unwind + 512;
	CHECK(found);
}

/* --- rseq --- */

#ifdef __aarch64__
#define SIGNATURE 0xd428bc00u
#define USER_END  (1UL << 39)
#else
#define SIGNATURE 0x53053053u
#define USER_END  ((1UL << 47) - PAGE)
#endif

static struct rseq *registered(void)
{
	return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static struct rseq_cs sequence __attribute__((aligned(32)));
static volatile long turns;
static void on_alarm(int sig)
{
}

/* Counts in a sequence until it is aborted: returns 1 then. Ends by itself, with 0, after very many turns. */
static int spin_in_sequence(struct rseq *r)
{
	long left = 20000000000, aborted;

#ifdef __aarch64__
	unsigned long start, end, handler;

	__asm__ volatile("adr %0, 1f\n\tadr %1, 2f\n\tadr %2, 3f" : "=r"(start), "=r"(end), "=r"(handler));
	sequence = (struct rseq_cs){0, 0, start, end - start, handler};
	__asm__ volatile("mov %0, #0\n\t"
			 "str %3, [%2]\n"
			 "1:\tsubs %1, %1, #1\n\t"
			 "b.ne 1b\n"
			 "2:\tb 4f\n\t"
			 ".inst 0xd428bc00\n"
			 "3:\tmov %0, #1\n"
			 "4:"
			 : "=&r"(aborted), "+r"(left)
			 : "r"(&r->rseq_cs), "r"(&sequence)
			 : "cc", "memory");
#else
	unsigned long start, end, handler;

	__asm__ volatile("leaq 1f(%%rip), %0\n\tleaq 2f(%%rip), %1\n\tleaq 3f(%%rip), %2"
			 : "=r"(start), "=r"(end), "=r"(handler));
	sequence = (struct rseq_cs){0, 0, start, end - start, handler};
	__asm__ volatile("xorl %k0, %k0\n\t"
			 "movq %3, (%2)\n"
			 "1:\tdecq %1\n\t"
			 "jnz 1b\n"
			 "2:\tjmp 4f\n\t"
			 ".byte 0x0f, 0xb9, 0x3d\n\t"
			 ".long 0x53053053\n"
			 "3:\tmovl $1, %k0\n"
			 "4:"
			 : "=&r"(aborted), "+r"(left)
			 : "r"(&r->rseq_cs), "r"(&sequence)
			 : "cc", "memory");
#endif
	return aborted;
}

/*
 * Until another task has had this CPU. A sleep whose time is up before the CPU is given away, as on a busy host, makes
 * no switch.
 */
static void be_switched(void)
{
	struct rusage before, now;

	getrusage(RUSAGE_SELF, &before);
	do {
		usleep(1000); /* sched_yield() alone on a CPU makes no switch */
		getrusage(RUSAGE_SELF, &now);
	} while (now.ru_nvcsw == before.ru_nvcsw);
}

/* How a child ends that says it is in this sequence, and is not: the signal, 0 for none, or -1. */
static int ends_with(struct rseq_cs cs)
{
	static struct rseq_cs said __attribute__((aligned(32)));
	int status;
	pid_t pid;

	said = cs;
	pid = fork();
	if (pid == 0) {
		registered()->rseq_cs = (unsigned long)&said;
		be_switched();
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void rseq_(const char *me)
{
	struct rseq_cs spin;
	struct itimerval soon = {{0, 0}, {0, 20000}};
	struct rseq *r = registered();
	int status;
	pid_t pid;

	if (!CHECK(__rseq_size >= 20))
		return;
	CHECK(r->cpu_id < 64 && r->cpu_id == r->cpu_id_start);
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		CHECK(sched_setaffinity(0, sizeof(set), &set) == 0);
		CHECK(r->cpu_id == (unsigned)cpu && sched_getcpu() == cpu);
	}
	pid = fork();
	if (pid == 0)
		_exit(r->cpu_id != (unsigned)sched_getcpu() || syscall(SYS_rseq, r, 32, 0, SIGNATURE) != -1 ||
		      errno != EBUSY);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	/* A signal, and a switch to another task of this CPU, end the sequence. */
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	CHECK(spin_in_sequence(r) == 1 && !r->rseq_cs);
	pid = fork();
	if (pid == 0)
		for (;;)
			turns++;
	CHECK(spin_in_sequence(r) == 1 && !r->rseq_cs);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* Errors, by the rules of rseq(2). */
	CHECK(syscall(SYS_rseq, r, 32, 0, SIGNATURE) == -1 && errno == EBUSY);
	CHECK(syscall(SYS_rseq, r, 32, 0, 1) == -1 && errno == EPERM);
	CHECK(syscall(SYS_rseq, (char *)r + 32, 32, 0, SIGNATURE) == -1 && errno == EINVAL);
	CHECK(syscall(SYS_rseq, r, 32, 2, SIGNATURE) == -1 && errno == EINVAL);
	CHECK(syscall(SYS_rseq, r, 32, 1, 1) == -1 && errno == EPERM);
	CHECK(syscall(SYS_rseq, r, 32, 1, SIGNATURE) == 0 && r->cpu_id == (unsigned)-1 && r->cpu_id_start == 0);
	CHECK(syscall(SYS_rseq, r, 32, 1, SIGNATURE) == -1 && errno == EINVAL);
	CHECK(syscall(SYS_rseq, (char *)r + 4, 32, 0, SIGNATURE) == -1 && errno == EINVAL);
	CHECK(syscall(SYS_rseq, ~31UL, 32, 0, SIGNATURE) == -1 && errno == EFAULT);
	CHECK(syscall(SYS_rseq, r, 32, 0, SIGNATURE) == 0 && r->cpu_id < 64);
	/* A sequence whose handler has another signature kills, and one that goes beyond the user's addresses. */
	CHECK(ends_with((struct rseq_cs){0, 0, (unsigned long)on_alarm, 4, (unsigned long)spin_in_sequence + 16}) ==
	      SIGSEGV);
	spin = sequence;
	CHECK(ends_with(spin) == 0);
	spin.start_ip = USER_END - 8;
	spin.post_commit_offset = 7;
	CHECK(ends_with(spin) == 0);
	spin.post_commit_offset = 8;
	CHECK(ends_with(spin) == SIGSEGV);
}

/* --- a file that is mapped shared --- */

static void shared(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), other = open(path, O_RDWR), status;
	char *a, *b, text[8] = "";
	struct stat st;
	pid_t pid;

	CHECK(ftruncate(fd, 3 * PAGE) == 0);
	a = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	b = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, other, PAGE);
	if (!CHECK(a != MAP_FAILED && b != MAP_FAILED))
		return;
	strcpy(a + PAGE, "map");
	CHECK(!strcmp(b, "map"));
	CHECK(pread(other, text, 4, PAGE) == 4 && !strcmp(text, "map"));
	CHECK(pwrite(fd, "file", 5, PAGE) == 5 && !strcmp(b, "file") && !strcmp(a + PAGE, "file"));
	pid = fork();
	if (pid == 0) { /* one that has inherited the mapping, and one that makes its own */
		char *c = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, open(path, O_RDWR), 2 * PAGE);

		strcpy(b, "child");
		strcpy(c, "own");
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	CHECK(!strcmp(a + PAGE, "child") && !strcmp(a + 2 * PAGE, "own"));
	CHECK(msync(a, 3 * PAGE, MS_SYNC) == 0 && munmap(a, 3 * PAGE) == 0);
	CHECK(pread(fd, text, 6, PAGE) == 6 && !strcmp(text, "child"));
	/* What a private mapping writes is its own; what others write it sees until then. */
	a = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, PAGE);
	CHECK(!strcmp(a, "child") && strcpy(b, "b") && !strcmp(a, "b") && strcpy(a, "a") && !strcmp(b, "b"));
	CHECK(fstat(fd, &st) == 0 && st.st_size == 3 * PAGE);
	unlink(path);
}

/* --- where things lie --- */

static void places(const char *me)
{
	int local;

	printf("program %#lx stack %#lx heap %#lx base %#lx\n", (unsigned long)places, (unsigned long)&local,
	       (unsigned long)sbrk(0), getauxval(AT_BASE));
}

/* What may be done with the stack: the header PT_GNU_STACK says it. */
static void stack(const char *me)
{
	char rights[8], name[256];

	area_of((unsigned long)&rights, rights, name);
	printf("%s %s\n", name, rights);
}

/* The addresses of this program when the personality forbids random ones: the program prints them. */
static void fixed(const char *me)
{
	if (CHECK(personality(ADDR_NO_RANDOMIZE) == 0 && personality(0xffffffff) == ADDR_NO_RANDOMIZE))
		execl(me, me, "places", NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*function)(const char *me);
	} all[] = {{"aux", aux},       {"vdso", vdso},	{"torn", torn},	    {"library", library},
		   {"unwind", unwind}, {"rseq", rseq_}, {"shared", shared}, {"places", places},
		   {"fixed", fixed},   {"cost", cost},	{"stack", stack}};

	for (int i = 1; i < argc; i++) {
		char *more = strchr(argv[i], ':');

		if (more)
			*more++ = 0;
		for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
			if (!strcmp(argv[i], all[k].name))
				all[k].function(more ? more : argv[0]);
	}
	return failures;
}
