/*
 * dynevents fuzz N SEED: definitions of kprobe events, each with some bytes changed, N of them. Whatever the kernel
 * takes it must be able to show, in a form that it takes again, and to delete; what it refuses must leave nothing.
 * dynevents storm N SEED: N times one of: define, delete, switch on or off, filter, read. What is refused is EBUSY or
 * so.
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
};

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

	get("kprobe_events", all, sizeof(all));
	if (!*all)
		return 0;
	err = put("kprobe_events", O_TRUNC, "");
	if (err)
		vt_die(1, "deleting %s: errno %d", all, -err);
	for (char *at = all; *at;) {
		char *end = strchr(at, '\n');

		snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		err = put("kprobe_events", O_APPEND, line);
		if (err)
			vt_die(1, "not taken again, errno %d: %s", -err, line);
		at = end + 1;
	}
	get("kprobe_events", again, sizeof(again));
	if (strcmp(all, again))
		vt_die(1, "shown is not taken: %s became %s", all, again);
	return 1;
}

static void fuzz(long n)
{
	static const int refusals[] = {EINVAL, ENOENT, EBUSY, EEXIST, EILSEQ, E2BIG, ENOSPC};
	long taken = 0;

	while (n--) {
		char text[512];
		int err;
		size_t i = 0;

		strcpy(text, good[below(COUNT(good))]);
		mutate(text, sizeof(text));
		err = -put(below(2) ? "kprobe_events" : "dynamic_events", below(4) ? O_APPEND : O_TRUNC, text);
		while (err && i < COUNT(refusals) && refusals[i] != err)
			i++;
		if (i == COUNT(refusals))
			vt_die(1, "errno %d for: %s", err, text);
		if (err)
			continue;
		taken += shown_is_good();
		if (!below(20) && put("events/kprobes/enable", 0, "1") == 0) {
			getppid();
			put("events/kprobes/enable", 0, "0");
		}
	}
	if (put("kprobe_events", O_TRUNC, ""))
		vt_die(1, "not all can be deleted");
	printf("taken %s\n", taken > 10 ? "some" : "too few");
}

/* ---- storm */

static const char *const places[] = {"vfs_read",   "vfs_write", "sys_getppid",	"do_sys_openat2",
				     "vfs_read+8", "sys_read",	"sys_write",	"kernel_clone",
				     "schedule",   "vfs_open",	"sys_getppid+8"};

static void one(void)
{
	static char text[65536];
	char line[256], name[64];

	snprintf(name, sizeof(name), "events/kprobes/e%u/%s", below(6), below(3) ? "enable" : "filter");
	switch (below(6)) {
	case 0:
	case 1:
		snprintf(line, sizeof(line), "%c:e%u %s c=$comm s=+0($stack):u32", "pr"[below(2)], below(6),
			 places[below(COUNT(places))]);
		put("kprobe_events", O_APPEND, line);
		break;
	case 2:
		snprintf(line, sizeof(line), "-:e%u", below(6));
		put("kprobe_events", O_APPEND, line);
		break;
	case 3:
	case 4:
		put(name, 0, strstr(name, "enable") ? (below(2) ? "1" : "0") : (below(2) ? "0" : "c == \"calls\""));
		break;
	default:
		get(below(2) ? "kprobe_profile" : "trace", text, sizeof(text));
	}
}

static void storm(long n)
{
	while (n--)
		one();
	put("events/kprobes/enable", 0, "0");
	if (put("kprobe_events", O_TRUNC, ""))
		vt_die(1, "not all can be deleted");
	puts("stormed");
}

int main(int argc, char **argv)
{
	if (argc != 4)
		vt_die(2, "usage: dynevents fuzz|storm N SEED");
	seed = vt_number_or_die(2, argv[3], 1, 1L << 60);
	if (!strcmp(argv[1], "fuzz"))
		fuzz(vt_number_or_die(2, argv[2], 1, 1L << 30));
	else
		storm(vt_number_or_die(2, argv[2], 1, 1L << 30));
	return 0;
}
