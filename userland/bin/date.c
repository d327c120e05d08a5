/*
 * date [-u] [+FORMAT]: the time of day, in UTC.
 *
 * FORMAT is strftime()'s, and %s alone. Left out: setting the clock, -d, -r, and any other time
 * zone.
 */
#include <vt.h>
#include <time.h>

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "date [-u] [+FORMAT]", .options = "u", .bad_status = 1};
	const char *format = "%a %b %e %H:%M:%S UTC %Y";
	struct timespec now;
	char text[256];
	struct tm tm;

	while (vt_option(&o, argc, argv) != -1)
		; /* -u: there is no other time zone */
	if (argc - o.index > 1 || (o.index < argc && argv[o.index][0] != '+'))
		vt_usage(&o);
	if (o.index < argc)
		format = argv[o.index] + 1;
	if (clock_gettime(CLOCK_REALTIME, &now) < 0)
		vt_die_errno(1, "clock_gettime");
	gmtime_r(&now.tv_sec, &tm);
	/* newlib has no %s: seconds since 1970. */
	if (!strcmp(format, "%s"))
		sprintf(text, "%ld", (long)now.tv_sec);
	/*
	 * 0 is an error or an empty result: %p in some locales, never with a format that is not
	 * empty here.
	 */
	else if (!strftime(text, sizeof(text), format, &tm) && *format)
		vt_die(1, "bad format '%s'", format);
	printf("%s\n", *format ? text : "");
	return vt_finish(0);
}
