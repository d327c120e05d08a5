/*
 * The names that are closest to a word, for messages such as "did you mean ...?". The caller offers all names one by
 * one, and the best three are kept.
 *
 * Two things make a name close. A typing error is a short edit distance (Damerau's, in the restricted form that swaps
 * only neighbours). How short it must be depends on the length of the word: every name of three letters is three
 * changes away from every other. A person who remembers only part of a name is helped by the names that contain the
 * word; these rank behind all typing errors.
 *
 * The caller owns the struct close_names; there is no lock.
 */
#include <lib/close_names.h>
#include <lib/string.h>

/*
 * One cell of the table below: the least of exchanging or keeping a character (`above` points at the cell up and to the
 * left), leaving one out (above[1]), putting one in (here[0]) and swapping the last two (`swapped`, which the caller
 * makes large when they are not the same two crosswise).
 */
static u8 cheapest(const u8 *above, const u8 *here, bool same, u8 swapped)
{
	u8 best = min(above[0] + !same, min(above[1] + 1, here[0] + 1));

	return min(best, swapped);
}

/*
 * Dynamic programming over the table of all beginnings of `a` (rows) against all beginnings of `b` (columns). A cell
 * depends on the two rows above it at most, so three rows are kept and used in turn. Rows of bytes are enough because
 * names are shorter than CLOSE_NAME_SIZE.
 */
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

/*
 * The rank of a name: smaller is closer, CLOSE_NAMES_NO_DISTANCE means too far. `limit` is the number of typing errors
 * that are forgiven for a word of this length. The distance is at least the difference of the lengths, so names whose
 * lengths differ too much need no table. Names that contain the word rank from CLOSE_NAME_SIZE up, shorter ones first.
 */
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

/* Insertion into the sorted array of the best. Among equal ranks the name that was offered first stays in front. */
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
