/*
 * free [-b | -k | -m | -h]: how much memory is used; -h: with units, as ls -h shows sizes.
 *
 * Left out: swap, as there is none; -s.
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
	struct vt_options o = {.usage = "free [-b | -k | -m | -h]", .options = "bkmh", .bad_status = 1};
	unsigned long total, unused, cached;
	int c, unit = 'k';
	char *text, number[24];

	while ((c = vt_option(&o, argc, argv)) != -1)
		unit = c;
	text = vt_read_file("/proc/meminfo", NULL);
	if (!text)
		vt_die_errno(1, "/proc/meminfo");
	total = field(text, "MemTotal:");
	/* "Cached:" stands at the start of a line: "SwapCached:" ends alike. */
	unused = field(text, "MemFree:");
	cached = field(text, "\nCached:") + field(text, "Buffers:");
	printf("%16s %11s %11s %11s\nMem:", "total", "used", "free", "buff/cache");
	for (int i = 0; i < 4; i++) {
		unsigned long kib[] = {total, total - unused - cached, unused, cached};

		sprintf(number, "%lu", unit == 'b' ? kib[i] * 1024 : unit == 'm' ? kib[i] / 1024 : kib[i]);
		printf(" %11s", unit == 'h' ? vt_human(kib[i] * 1024, number) : number);
	}
	printf("\n");
	return vt_finish(0);
}
