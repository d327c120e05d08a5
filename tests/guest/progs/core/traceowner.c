/*
 * traceowner: whose the files of tracefs are. Mount options say it for all of them, chown and chmod for one, and what
 * was said stays although the file is not in use any more.
 */
#include <callnumbers.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define TRACEFS "/sys/kernel/tracing"
#define GROUP	1234
#define OTHER	4321

static const char *const some[] = {"",
				   "/current_tracer",
				   "/per_cpu/cpu0/trace",
				   "/events",
				   "/events/sched",
				   "/events/sched/sched_switch",
				   "/events/sched/sched_switch/enable"};

static struct stat status(const char *below, const char *name)
{
	char path[128];
	struct stat st = {};

	snprintf(path, sizeof(path), TRACEFS "%s%s", below, name);
	if (stat(path, &st))
		vt_die_errno(2, path);
	return st;
}

static void remount(const char *options)
{
	CHECK_CALL(mount("nodev", TRACEFS, "tracefs", MS_REMOUNT, options));
}

static void all_have(const char *below, unsigned uid, unsigned gid)
{
	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		struct stat st = status(below, some[i]);

		CHECK_EQ(st.st_uid, uid);
		CHECK_EQ(st.st_gid, gid);
	}
}

/* All files, those of an array that is made later, and the root's mode. */
static void options_are_for_all(void)
{
	int dir = CHECK_CALL(CALL(openat, -100, TRACEFS "/events/sched", 0, 0)); /* in use meanwhile */

	all_have("", 0, 0);
	remount("gid=1234,mode=751");
	all_have("", 0, GROUP);
	CHECK_EQ(status("", "").st_mode & 07777, 0751);
	CHECK_CALL(CALL(mkdirat, -100, TRACEFS "/instances/owned", 0777));
	all_have("/instances/owned", 0, GROUP);
	remount("uid=7");
	all_have("", 7, GROUP);
	all_have("/instances/owned", 7, GROUP);
	CHECK_CALL(CALL(unlinkat, -100, TRACEFS "/instances/owned", 0x200));
	remount("uid=0,gid=0,mode=700");
	all_have("", 0, 0);
	CALL(close, dir);
}

/* One file of an event, and one directory: those below and beside are as they were, until the next mount option. */
static void chown_is_for_one(void)
{
	CHECK_CALL(CALL(fchownat, -100, TRACEFS "/events/sched/sched_switch/enable", 5, OTHER, 0));
	CHECK_CALL(CALL(fchmodat, -100, TRACEFS "/events/sched/sched_switch/enable", 0600));
	CHECK_CALL(CALL(fchownat, -100, TRACEFS "/events/timer", -1, OTHER, 0));
	CHECK_EQ(status("", some[6]).st_uid, 5);
	CHECK_EQ(status("", some[6]).st_gid, OTHER);
	CHECK_EQ(status("", some[6]).st_mode & 07777, 0600);
	CHECK_EQ(status("", "/events/timer").st_gid, OTHER);
	CHECK_EQ(status("", "/events/timer/enable").st_gid, 0);
	CHECK_EQ(status("", "/events/sched/sched_switch/filter").st_gid, 0);
	CHECK_EQ(status("", "/events/sched/sched_waking/enable").st_gid, 0);
	remount("gid=1234");
	CHECK_EQ(status("", some[6]).st_uid, 5);
	CHECK_EQ(status("", some[6]).st_gid, GROUP);
	CHECK_EQ(status("", "/events/timer").st_gid, GROUP);
	remount("uid=0,gid=0");
	all_have("", 0, 0);
}

/* An array goes although files of it have owners of their own. */
static void an_instance_goes(void)
{
	CHECK_CALL(CALL(mkdirat, -100, TRACEFS "/instances/gone", 0777));
	CHECK_CALL(CALL(fchownat, -100, TRACEFS "/instances/gone/events/irq", 3, 3, 0));
	CHECK_CALL(CALL(fchownat, -100, TRACEFS "/instances/gone/events/sched/sched_switch/id", 3, 3, 0));
	CHECK_CALL(CALL(fchownat, -100, TRACEFS "/instances/gone/trace", 3, 3, 0));
	CHECK_CALL(CALL(unlinkat, -100, TRACEFS "/instances/gone", 0x200));
	CHECK_CALL(CALL(mkdirat, -100, TRACEFS "/instances/gone", 0777));
	all_have("/instances/gone", 0, 0);
	CHECK_EQ(status("/instances/gone", "/trace").st_uid, 0);
	CHECK_CALL(CALL(unlinkat, -100, TRACEFS "/instances/gone", 0x200));
}

/* Nothing of a line with a mistake is done. */
static void wrong_options(void)
{
	static const char *const wrong[] = {"gid=x",	    "gid=",   "gid=-1",	 "gid=4294967295",
					    "uid=7,gid=1x", "mode=9", "colour=3"};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		CHECK_ERRNO(mount("nodev", TRACEFS, "tracefs", MS_REMOUNT, wrong[i]), EINVAL);
	all_have("", 0, 0);
}

static const struct check_case cases[] = {
	{"options_are_for_all", options_are_for_all},
	{"chown_is_for_one", chown_is_for_one},
	{"an_instance_goes", an_instance_goes},
	{"wrong_options", wrong_options},
};

int main(int argc, char **argv)
{
	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
