/* clocktest: adjtimex(2) and clock_adjtime(2), for reading. */
/* also on Linux */
#include <check.h>
#include <numbers.h>
#include <time.h>

#define OFFSET_SS_READ 0xa001
#define SS_ADJUST      0x8001
#define SET_TICK       0x4000

static union {
	unsigned modes;
	int word[52];
	long number[26];
} tx;

static void reads(void)
{
	struct timespec now;
	long status = check_syscall(SYS_adjtimex, (long)&tx, 0, 0, 0, 0, 0);

	CHECK_RANGE(status, 0, 5);
	CHECK_EQ(tx.modes, 0);
	CHECK_RANGE(tx.number[3], 0, 16000000);	 /* maxerror */
	CHECK_EQ(tx.number[7], 1);		 /* precision */
	CHECK_EQ(tx.number[8], 500 << 16);	 /* tolerance */
	CHECK_RANGE(tx.number[11], 9000, 11000); /* tick */
	CHECK_CALL(clock_gettime(CLOCK_REALTIME, &now));
	CHECK_RANGE(now.tv_sec - tx.number[9], 0, 5);
	tx.modes = OFFSET_SS_READ;
	CHECK_RANGE(check_syscall(SYS_clock_adjtime, 0, (long)&tx, 0, 0, 0, 0), 0, 5);
#ifndef __linux__ /* where a program may steer the clock */
	CHECK_EQ(status, 5);
	CHECK_EQ(tx.word[10], 0x40);
	CHECK_EQ(tx.number[3], 16000000);
#endif
}

static void refuses(void)
{
	CHECK_ERRNO(check_syscall(SYS_adjtimex, 8, 0, 0, 0, 0, 0), EFAULT);
	CHECK_ERRNO(check_syscall(SYS_clock_adjtime, 1, (long)&tx, 0, 0, 0, 0), EOPNOTSUPP);
	CHECK_ERRNO(check_syscall(SYS_clock_adjtime, 77, (long)&tx, 0, 0, 0, 0), EINVAL);
	if (!geteuid())
		CHECK_CALL(check_syscall(SYS_setresuid, 1000, 1000, 1000, 0, 0, 0));
	tx.modes = SET_TICK;
	CHECK_ERRNO(check_syscall(SYS_adjtimex, (long)&tx, 0, 0, 0, 0, 0), EPERM);
	tx.modes = SS_ADJUST;
	CHECK_ERRNO(check_syscall(SYS_clock_adjtime, 0, (long)&tx, 0, 0, 0, 0), EPERM);
}

static const struct check_case cases[] = {{"reads", reads}, {"refuses", refuses}};

int main(int argc, char **argv)
{
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
