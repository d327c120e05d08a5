/*
 * The names closest to a word. A typing error is a short edit distance, and how short depends on the length
 * of the word: one of three letters is as close to all others of three. Where somebody knows a part of a name
 * only, the names that contain the word are close, too, but come after those.
 */
#include <lib/close_names.h>
#include <lib/string.h>

/* The least of four ways to come here; `swapped` counts only when the last two characters are the same
 * crosswise. */
static u8 cheapest(const u8 *above, const u8 *here, bool same, u8 swapped)
{
	u8 best = min(above[0] + !same, min(above[1] + 1, here[0] + 1));

	return min(best, swapped);
}

/* Row by row of the table of all beginnings of a against all beginnings of b; three rows are kept. */
unsigned edit_distance(const char *a, const char *b)
{
	u8 rows[3][CLOSE_NAME_SIZE];
	size_t la = strlen(a), lb = strlen(b);

	if (la >= CLOSE_NAME_SIZE || lb >= CLOSE_NAME_SIZE)
		return CLOSE_NAMES_NO_DISTANCE;
	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		u8 *here = rows[i % 3], *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];

		here[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			bool crossed = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];

			here[j] = cheapest(&above[j - 1], &here[j - 1], a[i - 1] == b[j - 1],
					   crossed ? two_above[j - 2] + 1 : 0xff);
		}
	}
	return rows[la % 3][lb];
}

void close_names_init(struct close_names *close, const char *word)
{
	close->word = word;
	close->len = strlen(word);
	close->nr = 0;
}

/* How far away, as a rank; CLOSE_NAMES_NO_DISTANCE: too far. Lengths that differ too much need no table. */
static unsigned rank(const struct close_names *close, const char *name)
{
	unsigned limit = close->len < 3 ? 0 : close->len < 5 ? 1 : close->len < 12 ? 2 : 3, distance;
	size_t len = strlen(name), more = len > close->len ? len - close->len : close->len - len;

	if (len >= CLOSE_NAME_SIZE || close->len >= CLOSE_NAME_SIZE)
		return CLOSE_NAMES_NO_DISTANCE;
	distance = more <= limit ? edit_distance(close->word, name) : CLOSE_NAMES_NO_DISTANCE;
	if (distance <= limit)
		return distance;
	return close->len > 3 && strstr(name, close->word) ? CLOSE_NAME_SIZE + more : CLOSE_NAMES_NO_DISTANCE;
}

void close_names_offer(struct close_names *close, const char *name)
{
	unsigned distance = rank(close, name), i;

	if (distance == CLOSE_NAMES_NO_DISTANCE)
		return;
	for (i = close->nr; i > 0 && close->best[i - 1].distance > distance; i--)
		if (i < CLOSE_NAMES_MAX)
			close->best[i] = close->best[i - 1];
	if (i == CLOSE_NAMES_MAX)
		return;
	close->best[i].distance = distance;
	memcpy(close->best[i].name, name, strlen(name) + 1);
	close->nr = min(close->nr + 1, (unsigned)CLOSE_NAMES_MAX);
}
