/* Lists of CPUs on command lines. */
#include <vt.h>
#include <ctype.h>
#include <sched.h>

bool vt_cpu_list(const char *text, cpu_set_t *set)
{
	char *end;

	do {
		unsigned long first, last;

		if (!isdigit((unsigned char)*text))
			return false;
		first = last = strtoul(text, &end, 10);
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last < first || last >= CPU_SETSIZE)
			return false;
		for (; first <= last; first++)
			CPU_SET(first, set);
		text = end + 1;
	} while (*end == ',');
	return *end == '\0';
}
