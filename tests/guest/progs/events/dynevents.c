/*
 * dynevents fuzz N SEED: definitions of probe events of all kinds but uprobes, each with some bytes changed, N of them.
 * Whatever the kernel takes it must be able to show, in a form that it takes again, and to delete; what it refuses must
 * leave nothing.
 * dynevents storm N SEED: N times one of: define, delete, switch on or off, filter, a histogram, read; with synthetic
 * events, too. What is refused is EBUSY or so.
 * dynevents clean: takes away all that storms have left.
 *
 * The working directory is tracefs.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <numbers.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <watch.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static unsigned long seed;

static unsigned below(unsigned n)
{
	return watch_random(&seed) % n;
}

/* What write(2) returns, or -errno, of the open too. */
static int put(const char *file, int flags, const char *text)
{
	int fd = open(file, O_WRONLY | flags), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static size_t get(const char *file, char *text, size_t size)
{
	int fd = open(file, O_RDONLY);
	size_t len = 0;
	ssize_t n = 0;

	while (fd >= 0 && len < size - 1 && (n = read(fd, text + len, size - 1 - len)) > 0)
		len += n;
	if (fd >= 0)
		close(fd);
	text[len] = '\0';
	return len;
}

/* ---- fuzz */

static const char *const good[] = {
	"p:grp/ev vfs_read a=$arg1 b=+8($arg2):u32 c=$stack2 d=$stack",
	"p:ev vfs_read+4 @linux_proc_banner:string[2] n=\\17:s8 t=\\\"abc\"",
	"r16:grp/ev vfs_read $retval:s64 n=$arg1 $comm:string",
	"p:ev vfs_read%return $retval:b4@3/16 x=+0(-16(+u8(@vfs_open+4))):x8[12]",
	"p vfs_read +0(+4($arg1)):ustring $arg1:symbol $arg1:symstr $arg1:%pd",
	"p:ev sys_getppid c=+0($stack):char[3] q=@0xffff000012345678",
	"-:grp/ev vfs_read a=$arg1",
	"!p:ev vfs_read",
	"f:grp/ev vfs_read a=$arg1 c=$comm s=+8($arg2):x32[2]",
	"f16:ev vfs_re*d%return $retval:s64 n=$arg3",
	"t:ev sched_switch prev=$arg2:x64 next=$arg3 s=+0($stack)",
	"t:grp/ev sys_enter n=$arg2:s32",
	"e:grp/ev sched.sched_waking pid=$pid:u32 c=$COMM:string p=$prio if pid > 1",
	"e:ev syscalls/sys_enter_openat file=+0($filename):ustring mode=$mode:x16",
	"-:fprobes/ev",
	"-:eprobes/",
};

/* The groups that events get when no other is named. */
static const char *const groups[] = {"kprobes", "fprobes", "tracepoints", "eprobes", "synthetic"};

/* All events of these groups on or off. What is not there is not switched. */
static void enable_all(const char *on)
{
	for (unsigned i = 0; i < COUNT(groups); i++) {
		char name[64];

		snprintf(name, sizeof(name), "events/%s/enable", groups[i]);
		put(name, 0, on);
	}
}

/* Bytes of the language more often than others. */
static char random_byte(void)
{
	static const char some[] = "pr-:!/+-()[]@$%\\\"=, .#0123456789uxsbastringretvalcommstack";

	return below(8) ? some[below(sizeof(some) - 1)] : (char)(1 + below(255));
}

static void mutate(char *text, size_t size)
{
	for (unsigned n = 1 + below(2); n; n--) {
		size_t len = strlen(text), at = below(len + 1), some = 1 + below(2);

		switch (below(4)) {
		case 0: /* another byte */
			if (at < len)
				text[at] = random_byte();
			break;
		case 1: /* one more */
			if (len + 1 < size) {
				memmove(text + at + 1, text + at, len - at + 1);
				text[at] = random_byte();
			}
			break;
		case 2: /* some less */
			some = some < len - at ? some : len - at;
			memmove(text + at, text + at + some, len - at - some + 1);
			break;
		default: /* a piece twice */
			some = some < len - at ? some : len - at;
			if (len + some < size)
				memmove(text + at + some, text + at, len - at + 1);
		}
		if (!*text)
			strcpy(text, "p");
	}
}

/* The events there are, one by one, are taken again as they are shown. */
static int shown_is_good(void)
{
	static char all[16384], line[4096], again[16384];
	int err;

	get("dynamic_events", all, sizeof(all));
	if (!*all)
		return 0;
	err = put("dynamic_events", O_TRUNC, "");
	if (err)
		vt_die(1, "deleting %s: errno %d", all, -err);
	for (char *at = all; *at;) {
		char *end = strchr(at, '\n');

		snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		err = put("dynamic_events", O_APPEND, line);
		if (err)
			vt_die(1, "not taken again, errno %d: %s", -err, line);
		at = end + 1;
	}
	get("dynamic_events", again, sizeof(again));
	if (strcmp(all, again))
		vt_die(1, "shown is not taken: %s became %s", all, again);
	return 1;
}

static void fuzz(long n)
{
	/* ESRCH: of a filter with one quotation mark, as on Linux */
	static const int refusals[] = {EPERM, EINVAL, ENOENT, ESRCH, EBUSY, EEXIST, EILSEQ, E2BIG, ENOSPC, ENODEV};
	long taken = 0;

	while (n--) {
		char text[512];
		int err;
		size_t i = 0;

		strcpy(text, good[below(COUNT(good))]);
		mutate(text, sizeof(text));
		err = -put(below(4) ? "dynamic_events" : "kprobe_events", below(4) ? O_APPEND : O_TRUNC, text);
		while (err && i < COUNT(refusals) && refusals[i] != err)
			i++;
		if (i == COUNT(refusals))
			vt_die(1, "errno %d for: %s", err, text);
		if (err)
			continue;
		taken += shown_is_good();
		if (below(20))
			continue;
		enable_all("1");
		getppid();
		enable_all("0");
	}
	if (put("dynamic_events", O_TRUNC, ""))
		vt_die(1, "not all can be deleted");
	printf("taken %s\n", taken > 10 ? "some" : "too few");
}

/* ---- storm */

#define EVENTS 6 /* of each group */

static const char *const places[] = {"vfs_read",   "vfs_write", "sys_getppid",	"do_sys_openat2",
				     "vfs_read+8", "sys_read",	"sys_write",	"kernel_clone",
				     "schedule",   "vfs_open",	"sys_getppid+8"};
static const char *const tracepoints[] = {"sched_switch", "sched_waking", "sys_enter", "sys_exit"};

/* A definition of the kind that has this group; its event is one of EVENTS. An eprobe may stand on a kprobe event. */
static void define(unsigned kind)
{
	const char *place = places[below(COUNT(places))];
	unsigned nr = below(EVENTS);
	char line[256];

	switch (kind) {
	case 0:
		snprintf(line, sizeof(line), "%c:e%u %s c=$comm s=+0($stack):u32", "pr"[below(2)], nr, place);
		break;
	case 1:
		snprintf(line, sizeof(line), "f:e%u %s%s c=$comm a=%s", nr, place, below(2) ? "%return" : "",
			 below(2) ? "$arg1" : "\\7");
		break;
	case 2:
		snprintf(line, sizeof(line), "t:e%u %s c=$comm a=$arg2:x64", nr,
			 tracepoints[below(COUNT(tracepoints))]);
		break;
	case 4:
		snprintf(line, sizeof(line), "s:e%u u64 d; u64 from", nr);
		break;
	default:
		if (below(2))
			snprintf(line, sizeof(line), "e:e%u kprobes.e%u c=$c:string ip=$__probe_ip", nr, below(EVENTS));
		else
			snprintf(line, sizeof(line), "e:e%u sched.sched_waking c=$comm:string p=$pid", nr);
	}
	put(kind || below(2) ? "dynamic_events" : "kprobe_events", O_APPEND, line);
}

/*
 * A histogram, or none any more, of one event: a plain one, one with a variable, one that makes synthetic events of it.
 * They are on few events, so that the last kind often finds what it names.
 */
static void histogram(const char *group)
{
	const char *sign = below(2) ? "!" : "";
	char name[64], line[256];

	snprintf(name, sizeof(name), "events/%s/e%u/trigger", group, below(2));
	switch (below(3)) {
	case 0:
		snprintf(line, sizeof(line), "%shist:keys=common_pid", sign);
		break;
	case 1:
		snprintf(line, sizeof(line), "%shist:keys=common_pid:ts=common_timestamp", sign);
		break;
	default:
		snprintf(line, sizeof(line),
			 "%shist:keys=common_pid:d=common_timestamp-$ts:onmatch(%s.e%u).e%u($d,$ts)", sign,
			 groups[below(2)], below(2), below(2));
	}
	put(name, O_APPEND, line);
}

/* Takes away all triggers of these events. One that another refers to goes in a later round. */
static void no_triggers(void)
{
	for (unsigned i = 0; i < 3 * COUNT(groups) * EVENTS; i++) {
		char name[64], text[4096], line[1024];

		snprintf(name, sizeof(name), "events/%s/e%u/trigger", groups[i / EVENTS % COUNT(groups)], i % EVENTS);
		get(name, text, sizeof(text));
		for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
			if (*at == '#')
				continue;
			snprintf(line, sizeof(line), "!%.*s", (int)(end - at), at);
			*(strstr(line, " [") ?: line + strlen(line)) = '\0'; /* [active] */
			put(name, O_APPEND, line);
		}
	}
}

static void one(void)
{
	static char text[65536];
	unsigned kind = below(COUNT(groups));
	char line[64], name[64];

	snprintf(name, sizeof(name), "events/%s/e%u/%s", groups[kind], below(EVENTS), below(3) ? "enable" : "filter");
	switch (below(7)) {
	case 0:
	case 1:
		define(kind);
		break;
	case 2:
		snprintf(line, sizeof(line), "-:%s/e%u", groups[kind], below(EVENTS));
		put("dynamic_events", O_APPEND, line);
		break;
	case 5:
		histogram(groups[kind]);
		break;
	case 3:
	case 4:
		put(name, 0, strstr(name, "enable") ? (below(2) ? "1" : "0") : (below(2) ? "0" : "c == \"calls\""));
		break;
	default:
		get(below(2) ? "kprobe_profile" : "trace", text, sizeof(text));
	}
}

static void clean(void)
{
	enable_all("0");
	no_triggers();
	put("dynamic_events", O_APPEND, "-:eprobes/"); /* they hold the events that they stand on */
	if (put("dynamic_events", O_TRUNC, ""))
		vt_die(1, "not all can be deleted");
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "clean")) {
		clean();
		return 0;
	}
	if (argc != 4)
		vt_die(2, "usage: dynevents fuzz|storm N SEED, dynevents clean");
	seed = vt_number_or_die(2, argv[3], 1, 1L << 60);
	if (!strcmp(argv[1], "fuzz"))
		fuzz(vt_number_or_die(2, argv[2], 1, 1L << 30));
	else
		for (long n = vt_number_or_die(2, argv[2], 1, 1L << 30); n; n--)
			one();
	return 0;
}
