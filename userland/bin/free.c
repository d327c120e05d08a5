/*
 * free [-b | -k | -m]: how much memory is used.
 *
 * Left out: swap, as there is none; -h, -s.
 */
#include <vt.h>

/* A line of /proc/meminfo, in KiB; 0 if the kernel does not have it. */
static unsigned long field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "free [-b | -k | -m]", .options = "bkm", .bad_status = 1};
	unsigned long total, unused, cached;
	int c, unit = 'k';
	char *text;

	while ((c = vt_option(&o, argc, argv)) != -1)
		unit = c;
	text = vt_read_file("/proc/meminfo", NULL);
	if (!text)
		vt_die_errno(1, "/proc/meminfo");
	total = field(text, "MemTotal:");
	/* "Cached:" stands at the start of a line: "SwapCached:" ends alike. */
	unused = field(text, "MemFree:");
	cached = field(text, "\nCached:") + field(text, "Buffers:");
	if (unit == 'b')
		total *= 1024, unused *= 1024, cached *= 1024;
	if (unit == 'm')
		total /= 1024, unused /= 1024, cached /= 1024;
	printf("%16s %11s %11s %11s\n", "total", "used", "free", "buff/cache");
	printf("Mem: %11lu %11lu %11lu %11lu\n", total, total - unused - cached, unused, cached);
	return vt_finish(0);
}
