/* What the programs share that make calls with faults (faults.h): a working directory, files, descriptors. */
#ifndef FAULTCALLS_H
#define FAULTCALLS_H

#include <faults.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#define PAGE	 4096L
#define MAY_LACK __attribute__((unused)) /* a program need not use all of this */

/* What a call has given; a file that is open for reading and writing; a pipe. */
static int fd MAY_LACK = -1, ends[2] MAY_LACK = {-1, -1}, old_fd MAY_LACK, pipe_fds[2] MAY_LACK;
static char room[64 * 1024] MAY_LACK;
static const char content[] = "what stood here before\n"; /* of the file "old" */

static inline void close_it(const struct fault_step *s)
{
	faults_close(&fd);
}

static inline void close_both(const struct fault_step *s)
{
	faults_close(&ends[0]);
	faults_close(&ends[1]);
}

static inline long keep(long result)
{
	if (result >= 0)
		fd = (int)result;
	return result;
}

static inline bool exists(const char *name)
{
	return CALL(faccessat, HERE, name, 0) == 0;
}

/* In front of the first step: the place, with its files. */
static inline void fault_calls_prepare(void)
{
	mkdir("/tmp/faults", 0755);
	CHECK_CALL(CALL(chdir, "/tmp/faults"));
	check_put("old", content);
	old_fd = open("old", O_RDWR | O_CLOEXEC);
	CHECK_CALL(pipe(pipe_fds));
	memset(room, 'r', sizeof(room)); /* so that its pages are there */
}

#endif
