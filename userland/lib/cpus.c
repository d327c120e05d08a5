/*
 * CPUs: lists of them, as on command lines, and those there are.
 *
 *     "0,2-4"   <->   { 0, 2, 3, 4 }
 *
 * The same notation is used by the kernel, in files such as /sys/devices/system/cpu/online.
 */
#include <vt.h>
#include <ctype.h>
#include <sched.h>

/*
 * The set is added to, not emptied first. Blanks and signs, which strtoul() would take, are refused by
 * the look at the first digit.
 */
bool vt_cpu_list(const char *text, cpu_set_t *set)
{
	char *end;

	do {
		unsigned long first, last;

		if (!isdigit((unsigned char)*text))
			return false;
		first = last = strtoul(text, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				return false;
			last = strtoul(end + 1, &end, 10);
		}
		if (last < first || last >= CPU_SETSIZE)
			return false;
		for (; first <= last; first++)
			CPU_SET(first, set);
		text = end + 1;
	} while (*end == ',');
	return *end == '\0';
}

/* CPUs that follow each other become a range. A CPU takes at most five bytes of text ("1023,"). */
char *vt_cpu_text(const cpu_set_t *set)
{
	char *text = vt_malloc(CPU_SETSIZE * 5), *at = text; /* "1023," */

	*at = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int first = cpu;

		if (!CPU_ISSET(cpu, set))
			continue;
		while (cpu + 1 < CPU_SETSIZE && CPU_ISSET(cpu + 1, set))
			cpu++;
		at += sprintf(at, cpu > first ? "%s%d-%d" : "%s%d", at > text ? "," : "", first, cpu);
	}
	return text;
}

/*
 * /proc/cpuinfo has a paragraph for each CPU that is online, which begins "processor : N". CPUs may be
 * missing in between, so the numbers are read and not counted.
 */
int vt_cpus_online(cpu_set_t *set)
{
	char *text = vt_read_file("/proc/cpuinfo", NULL), *at = text;
	int n = 0;

	while (at && *at) {
		const char *colon = strchr(at, ':');
		unsigned long cpu;

		if (colon && !strncmp(at, "processor", 9) && (cpu = strtoul(colon + 1, NULL, 10)) < CPU_SETSIZE) {
			CPU_SET(cpu, set);
			n++;
		}
		at = strchr(at, '\n');
		at += at != NULL;
	}
	free(text);
	return n;
}
