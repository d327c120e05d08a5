/*
 * Marks that programs write to trace_marker in the form of Android's atrace, which Perfetto, systrace and Chrome know:
 *
 *     B|pid|name    a section of the task that writes begins     E|pid    the newest of them ends
 *     S|pid|name|n  a section that any task may end begins       F|pid|name|n    it ends
 *     C|pid|name|n  a counter has this value                     I|pid|name      a moment
 */
#include "vtrace.h"

#include <stdlib.h>
#include <string.h>

/* Cut off what follows the last bar, and return it. NULL for a text without a bar. */
static char *last_part(char *text)
{
	char *bar = strrchr(text, '|');

	if (!bar)
		return NULL;
	*bar = '\0';
	return bar + 1;
}

/* The parts behind the pid. False when the letter wants others. */
static bool parse_parts(struct mark *m, char *parts)
{
	char *value, *end;

	if (m->letter == 'E')
		return true;
	if (m->letter == 'S' || m->letter == 'F')
		intern(parts, &m->id); /* with its number */
	value = strchr("SFC", m->letter) ? last_part(parts) : NULL;
	if (!*parts)
		return false;
	m->name = intern(parts, m->letter == 'C' ? &m->id : NULL);
	if (m->letter != 'C')
		return true;
	if (!value)
		return false;
	m->value = strtoll(value, &end, 10);
	return end != value && !*end;
}

/* A letter alone is an end without a pid, as older writers have it. The text is cut up in a copy. */
bool parse_mark(const char *text, size_t n, struct mark *m)
{
	char copy[300], *parts;

	n = strnlen(text, n);
	while (n && text[n - 1] == '\n')
		n--;
	if (!n || n >= sizeof(copy) || !strchr("BESFCI", *text) || (n > 1 ? text[1] != '|' : *text != 'E'))
		return false;
	memcpy(copy, text, n);
	copy[n] = '\0';
	*m = (struct mark){.letter = *copy};
	if (n == 1)
		return true;
	parts = copy + 2 + strspn(copy + 2, "0123456789");
	if (*parts == '|')
		parts++;
	else if (*parts || *copy != 'E')
		return false;
	return parse_parts(m, parts);
}
