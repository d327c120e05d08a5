/*
 * oomtest: programs that fill memory, for the choice of who has to go. `hold KIB` touches so much, adds a
 * line to /tmp/held and sleeps; `eat` touches more and more; `rights` is who may write oom_score_adj.
 */
#include <check.h>
#include <fcntl.h>
#include <numbers.h>
#include <sys/mman.h>

#define CHUNK (256L << 10)

/* False: there is no address space or the kernel says no. */
static bool touch_more(long bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return false;
	for (long i = 0; i < bytes; i += 4096)
		p[i] = 1;
	return true;
}

static void hold(long kib)
{
	int ready;

	if (!touch_more(kib << 10))
		vt_die_errno(1, "hold");
	ready = open("/tmp/held", O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (ready < 0 || write(ready, "x\n", 2) != 2)
		vt_die_errno(1, "/tmp/held");
	for (;;)
		check_sleep(1000000000L);
}

static void eat(void)
{
	while (touch_more(CHUNK))
		;
	vt_die_errno(1, "eat");
}

/* What who is not root may do to himself: more of a candidate, and back to where root has left him. */
static int rights(void)
{
	int fd = CHECK_CALL(open("/proc/self/oom_score_adj", O_RDWR));
	int old = CHECK_CALL(open("/proc/self/oom_adj", O_RDWR));

	CHECK_EQ(write(fd, "100", 3), 3);
	CHECK_CALL(check_syscall(NR_setuid, 1000, 0, 0, 0, 0, 0));
	CHECK_EQ(write(fd, "300", 3), 3);
	CHECK_EQ(write(fd, "100", 3), 3);
	CHECK_ERRNO(write(fd, "99", 2), EACCES);
	CHECK_ERRNO(write(fd, "-1000", 5), EACCES);
	CHECK_ERRNO(write(old, "1", 1), EACCES);
	CHECK_EQ(write(old, "2", 1), 1);
	return check_failures ? 1 : 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "hold"))
		hold(atol(argv[2]));
	if (argc == 2 && !strcmp(argv[1], "eat"))
		eat();
	if (argc == 2 && !strcmp(argv[1], "rights"))
		return rights();
	vt_die(2, "usage: oomtest hold KIB | eat | rights");
	return 0;
}
