/*
 * Calls in which each allocation fails once (docs/fault-injection.md): with fail-nth 1, 2, 3... until the call
 * passes without a fault. A call that fails must say ENOMEM, must leave everything as it was, and must pass
 * when it is made again; and none of it may leave memory behind.
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <callnumbers.h>

#define HERE (-100) /* AT_FDCWD */

/* A system call, which gives -errno when it fails. */
#define DO(name, ...) faults_result(CALL(name, __VA_ARGS__))
static inline long faults_result(long result)
{
	return result == -1 ? -errno : result;
}

struct fault_step {
	const char *name;
	long (*call)(const struct fault_step *s);   /* with a fault: -errno, or not below 0 */
	void (*before)(const struct fault_step *s); /* in front of each call; NULL: nothing */
	void (*undo)(const struct fault_step *s);   /* behind each call that has passed; NULL: nothing */
	void (*same)(const struct fault_step *s);   /* behind one that has failed: checks */
	const char *a, *b, *c;			    /* for these functions */
	int also;				    /* an errno that it may give beside ENOMEM */
	bool survives;				    /* never fails: it can do without what it cannot have */
	bool quick;				    /* not more than some hundred faults, spread over all */
};

/* A step; what else it has follows with its name. */
#define STEP(name_, call_, before_, undo_, same_, ...)                                                               \
	{                                                                                                            \
		.name = (name_), .call = (call_), .before = (before_), .undo = (undo_), .same = (same_), __VA_ARGS__ \
	}

/*
 * Run the steps that argv names, or all, and say for each how many faults there were. Returns the exit status.
 * The first word of argv may be -v: the kernel then tells where each fault is.
 */
int faults_main(int argc, char **argv, const struct fault_step *steps, size_t n);

/* Called in front of each look at what is in use, where that keeps something of what has failed. */
extern void (*faults_before_look)(void);
/* For a call that injects into another task than the caller: the number of this turn; and say what was left of it. */
unsigned faults_nth(void);
void faults_left(unsigned left);
/* Close the descriptor that a call has given. */
void faults_close(int *fd);
/* Write a text to a file in one go, opened with these flags besides O_WRONLY. What write or open gives, or -errno. */
long faults_write(const char *file, const char *text, int flags);

#endif
