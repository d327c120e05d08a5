/*
 * date [-u] [+FORMAT]: the time of day, in UTC.
 *
 * FORMAT is strftime()'s, with %s and %N for seconds since 1970 and nanoseconds. Left out: setting the
 * clock, -d, -r, and any other time zone.
 */
#include <vt.h>
#include <time.h>

/*
 * newlib's strftime() has neither %s nor %N: digits take their place in the format, which is cut where it is longer
 * than any date. %% stays as it is.
 */
static const char *with_seconds(const char *format, const struct timespec *now)
{
	static char text[256];
	size_t n = 0;

	/* It calls our only time zone GMT. */
	while (*format && n < sizeof(text) - 24) {
		if (!strncmp(format, "%s", 2) || !strncmp(format, "%N", 2)) {
			n += (size_t)sprintf(text + n, format[1] == 's' ? "%ld" : "%09ld",
					     format[1] == 's' ? (long)now->tv_sec : now->tv_nsec);
			format += 2;
			continue;
		}
		if (!strncmp(format, "%Z", 2)) {
			n += (size_t)sprintf(text + n, "UTC");
			format += 2;
			continue;
		}
		if (format[0] == '%' && format[1])
			text[n++] = *format++;
		text[n++] = *format++;
	}
	text[n] = '\0';
	return text;
}

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
	format = with_seconds(format, &now);
	/*
	 * 0 is an error or an empty result: %p in some locales, never with a format that is not
	 * empty here.
	 */
	if (!strftime(text, sizeof(text), format, &tm) && *format)
		vt_die(1, "bad format '%s'", format);
	printf("%s\n", *format ? text : "");
	return vt_finish(0);
}
