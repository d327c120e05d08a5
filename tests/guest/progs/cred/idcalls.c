/*
 * idcalls: the calls that set ids: what a user may take, what closes the memory, how many groups there may be. The last
 * case checks which tasks a kill of a process group reaches.
 */
#include <callnumbers.h>
#include <signal.h>
#include <sys/prctl.h>

#define USER		1000
#define PR_GET_DUMPABLE 3
#define PR_SET_DUMPABLE 4

static void set_fsuid(void)
{
	CHECK_EQ(CALL(setfsuid, USER), 0);
	CHECK_EQ(CALL(prctl, PR_GET_DUMPABLE), 0);
}

static void set_fsgid(void)
{
	CHECK_EQ(CALL(setfsgid, USER), 0);
	CHECK_EQ(CALL(prctl, PR_GET_DUMPABLE), 0);
}

/* The id for files is there already, so that the effective one changes alone. */
static void set_egid(void)
{
	CHECK_EQ(CALL(setfsgid, USER), 0);
	CHECK_EQ(CALL(prctl, PR_SET_DUMPABLE, 1), 0);
	CHECK_EQ(CALL(setresgid, -1, USER, -1), 0);
	CHECK_EQ(CALL(prctl, PR_GET_DUMPABLE), 0);
}

static void same_ids(void)
{
	CHECK_EQ(CALL(setfsuid, 0), 0);
	CHECK_EQ(CALL(setresuid, 0, 0, 0), 0);
	CHECK_EQ(CALL(prctl, PR_GET_DUMPABLE), 1);
}

/* Each id that counts for rights closes the memory when it changes, also when it changes alone. */
static void one_id_closes(void)
{
	CHECK_EQ(check_in_child(set_fsuid), 0);
	CHECK_EQ(check_in_child(set_fsgid), 0);
	CHECK_EQ(check_in_child(set_egid), 0);
	CHECK_EQ(check_in_child(same_ids), 0);
}

static void back_and_forth(void)
{
	unsigned r, e, s;

	CHECK_CALL(CALL(setresuid, USER, USER + 1, USER + 2));
	CHECK_ERRNO(CALL(setuid, USER + 1), EPERM); /* the effective id itself is none of the two */
	CHECK_CALL(CALL(setuid, USER));
	CHECK_CALL(CALL(setuid, USER + 2));
	CHECK_ERRNO(CALL(setuid, USER + 3), EPERM);
	CHECK_CALL(CALL(getresuid, &r, &e, &s));
	CHECK_EQ(r, USER);
	CHECK_EQ(e, USER + 2);
	CHECK_EQ(s, USER + 2);
}

/* setuid() of a user goes to the real or the saved id, whichever it names. */
static void real_or_saved(void)
{
	CHECK_EQ(check_in_child(back_and_forth), 0);
}

static void numbers_of_groups(void)
{
	static unsigned groups[65537];

	CHECK_ERRNO(CALL(setgroups, 65537, groups), EINVAL); /* NGROUPS_MAX is 65536 */
	CHECK_ERRNO(CALL(setgroups, -1, groups), EINVAL);
	CHECK_CALL(CALL(setgroups, 65536, groups));
	CHECK_EQ(CALL(getgroups, 0, NULL), 65536);
	CHECK_EQ(CALL(setgroups, 0, NULL), 0);
	CHECK_EQ(CALL(getgroups, 0, NULL), 0);
}

/* A signal to a group is sent if one process of it may be signalled, though the last one that is asked may not. */
static void group_with_others(void)
{
	int go[2];
	pid_t own, last;

	CHECK_CALL(pipe(go));
	own = check_fork();
	if (own == 0) {
		check_take(go[0]);
		become_user(USER);
		_exit(CALL(kill, 0, 0) != 0);
	}
	last = check_fork();
	if (last == 0) {
		check_sleep(100000000000);
		_exit(0);
	}
	check_give(go[1], 'g');
	CHECK_EQ(check_wait(own), 0);
	CHECK_CALL(CALL(kill, last, SIGKILL));
	CHECK_EQ(check_wait(last), SIGKILL);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"one_id_closes", one_id_closes},
		{"real_or_saved", real_or_saved},
		{"numbers_of_groups", numbers_of_groups},
		{"group_with_others", group_with_others},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
