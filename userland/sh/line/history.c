/*
 * What has been typed.
 *
 * Kept in memory only: there is no home directory that outlives the machine.
 */
#include "../sh.h"

#define HISTORY_SIZE 100 /* lines */

/* [0] is the oldest; all allocated here and owned by it. */
static char *lines[HISTORY_SIZE];
static size_t count;

size_t history_count(void)
{
	return count;
}

const char *history_get(size_t n)
{
	return n < count ? lines[n] : NULL;
}

/* Empty lines and repetitions are not kept. The last newline is not part of it; a pasted text has others in
 * it. */
void history_add(const char *line)
{
	size_t n = strlen(line);
	char *copy;

	if (line[strspn(line, " \t\n")] == '\0')
		return;
	while (line[n - 1] == '\n')
		n--;
	if (count && strlen(lines[count - 1]) == n && !strncmp(lines[count - 1], line, n))
		return;
	copy = vt_malloc(n + 1);
	memcpy(copy, line, n);
	copy[n] = '\0';
	/*
	 * A hundred pointers are moved faster than a key is released; a ring would need an index
	 * everywhere.
	 */
	if (count == HISTORY_SIZE) {
		free(lines[0]);
		memmove(lines, lines + 1, sizeof(lines) - sizeof(lines[0]));
		count--;
	}
	lines[count++] = copy;
}
