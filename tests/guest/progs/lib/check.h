/* What the guests' test programs share: checks that say what they found, and cases that run apart from each
 * other. */
#ifndef CHECK_H
#define CHECK_H

#include <vt.h>
#include <sys/wait.h>
#include <time.h>

/* Each says on standard output where and what was wrong, is counted, and gives whether it held. */
#define CHECK(condition)	 check_true(!!(condition), #condition, __FILE__, __LINE__)
#define CHECK_EQ(got, wanted)	 check_equal((long)(got), (long)(wanted), #got, __FILE__, __LINE__)
#define CHECK_RANGE(got, lo, hi) check_range((long)(got), (long)(lo), (long)(hi), #got, __FILE__, __LINE__)
/* A call that must not return -1; gives what it returned. */
#define CHECK_CALL(call) check_call((long)(call), #call, __FILE__, __LINE__)
/* A call that must return -1 with this errno. */
#define CHECK_ERRNO(call, wanted) check_errno((long)(call), (wanted), #call, __FILE__, __LINE__)

bool check_true(bool ok, const char *text, const char *file, int line);
bool check_equal(long got, long wanted, const char *text, const char *file, int line);
bool check_range(long got, long lo, long hi, const char *text, const char *file, int line);
long check_call(long result, const char *text, const char *file, int line);
bool check_errno(long result, int wanted, const char *text, const char *file, int line);
/* How many checks of this process did not hold. */
extern int check_failures;

struct check_case {
	const char *name;
	void (*run)(void);
};

/*
 * Run the cases that argv names, or all: each in a process of its own, one after the other, with a line "name
 * ok" or what went wrong. Returns the exit status: 1 when one failed.
 */
int check_main(int argc, char **argv, const struct check_case *cases, size_t n);
/* How many seconds a case may take before it and its process group are killed and it has failed. 0: no end. */
extern int check_seconds;

/* fork() with the output flushed first; ends the process when there is none. */
pid_t check_fork(void);
/* Wait for this child; its wait status. */
int check_wait(pid_t pid);
/* Run f in a child: its wait status. The child exits 0 when f returns and no check failed in it, else 1. */
int check_in_child(void (*f)(void));
/* A child that ends at once with this status: its number. */
pid_t check_exits_with(int code);
/* The letter that /proc shows for a thread: R, S, D, T, Z...; 0 when the thread is gone. */
char thread_state(pid_t pid, pid_t tid);
/* Make the file hold this text; a check fails when that does not work. */
void check_put(const char *name, const char *text);
/* Whether the file holds this text and nothing else. */
bool check_holds(const char *name, const char *text);
/* CLOCK_MONOTONIC in nanoseconds, and sleeping by it. */
long check_now(void);
void check_sleep(long ns);
/* Let the caller run on this CPU only. */
void check_pin(int cpu);
/* How many CPUs the caller may use now. */
int check_cpus(void);
/* One byte through a pipe, for processes that wait for each other. */
void check_give(int fd, char byte);
char check_take(int fd);

/* A system call that libvt has no function for: -1 with errno as usual. */
long check_syscall(long nr, long a, long b, long c, long d, long e, long f);

#endif
