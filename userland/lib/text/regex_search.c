/*
 * Looking for a regular expression in a text: its program (regex.h) is run on all paths at once. The method is told in
 * regex.c.
 */
#include "regex.h"

#include <ctype.h>

void vt_regex_words(struct vt_regex *re)
{
	re->words = true;
}

int vt_regex_count_groups(const struct vt_regex *re)
{
	return re->saves / 2;
}

/*
 * The instructions that a match may stand at, each once, with where in the text it began and where its
 * groups did. The marks are compared with a stamp that grows with each step, so the array need not be
 * cleared for each byte of the text.
 */
struct re_threads {
	int count;
	unsigned short op[RE_MAX];
	size_t start[RE_MAX];
	size_t *saved;		   /* re->saves of each thread; owned, NULL until an expression has groups */
	size_t room;		   /* of saved */
	unsigned int seen[RE_MAX]; /* == stamp: already in */
	unsigned int stamp;
};

/* For \< and \>: where a word begins and ends. */
static bool is_word(unsigned char c)
{
	return isalnum(c) || c == '_';
}

/* What add_thread() knows of the place it is at. */
struct re_place {
	const struct vt_regex *re;
	const char *text;
	size_t length;
	size_t at;			   /* the next byte of text */
	size_t start;			   /* where the thread began */
	size_t saved[2 * VT_REGEX_GROUPS]; /* where its groups began and ended */
};

/*
 * Whether the zero-width condition holds between the bytes before and behind the place. ^ and $ mean the text's
 * ends: a text is one line here, without its newline. Behind it stands a zero, which belongs to no word.
 */
static bool holds(const struct re_op *op, const struct re_place *p)
{
	size_t at = p->at;
	bool before = at > 0 && is_word((unsigned char)p->text[at - 1]), after = is_word((unsigned char)p->text[at]);

	switch (op->code) {
	case RE_START:
		return at == 0;
	case RE_END:
		return at == p->length;
	case RE_WORD_START:
		return !before && after;
	case RE_WORD_EDGE:
		return before != after;
	case RE_NO_WORD_EDGE:
		return before == after;
	}
	return before && !after;
}

/* Whether a match may begin, or end, here: always but for whole words. */
static bool may_begin(const struct vt_regex *re, const char *text, size_t at)
{
	return !re->words || !at || !is_word((unsigned char)text[at - 1]);
}

static bool may_end(const struct vt_regex *re, const char *text, size_t at)
{
	return !re->words || !is_word((unsigned char)text[at]);
}

/*
 * Add an instruction and all that it leads to without taking a byte. Recursion ends because each is added
 * once: by the way that comes first, which of a repetition is the one that goes on. So a group takes as much
 * as it can.
 */
static void add_thread(struct re_threads *t, int i, struct re_place *p)
{
	const struct vt_regex *re = p->re;
	const struct re_op *op = &re->ops[i];
	size_t before;

	if (t->seen[i] == t->stamp)
		return;
	t->seen[i] = t->stamp;
	switch (op->code) {
	case RE_JUMP:
		add_thread(t, op->next, p);
		return;
	case RE_SPLIT:
		add_thread(t, op->next, p);
		add_thread(t, op->other, p);
		return;
	case RE_SAVE:
		before = p->saved[op->byte];
		p->saved[op->byte] = p->at;
		add_thread(t, i + 1, p);
		p->saved[op->byte] = before;
		return;
	case RE_START:
	case RE_END:
	case RE_WORD_START:
	case RE_WORD_END:
	case RE_WORD_EDGE:
	case RE_NO_WORD_EDGE:
		if (holds(op, p))
			add_thread(t, i + 1, p);
		return;
	}
	t->op[t->count] = (unsigned short)i;
	t->start[t->count] = p->start;
	memcpy(t->saved + t->count++ * re->saves, p->saved, sizeof(size_t) * (size_t)re->saves);
}

/* An empty list, with room for what its threads remember. */
static void clear_threads(struct re_threads *t, const struct vt_regex *re)
{
	size_t room = (size_t)(re->count * re->saves);

	t->count = 0;
	t->stamp++;
	if (t->room < room) {
		t->saved = vt_realloc(t->saved, room * sizeof(size_t));
		t->room = room;
	}
}

/* Whether the instruction takes this byte. */
static bool takes(const struct vt_regex *re, const struct re_op *op, unsigned char c)
{
	if (op->code == RE_ANY)
		return true;
	if (op->code == RE_SET)
		return op->set[c / 32] >> (c % 32) & 1;
	return op->code == RE_BYTE && op->byte == (re->ignore_case ? tolower(c) : c);
}

/*
 * POSIX wants the leftmost match and of those the longest. Threads stay sorted by where they began,
 * because a new one is added last; one instruction is kept for the earliest beginning only. A match
 * that begins at a later place is given up as soon as an earlier one has been found; among those that
 * began at the same place the last to arrive is the longest.
 *
 * The lists are static, as they take 100 KB, and a program's stack begins small: not for two threads.
 */
bool vt_regex_search(const struct vt_regex *re, const char *text, size_t length, size_t from, struct vt_match *match)
{
	static struct re_threads lists[2];
	struct re_threads *now = &lists[0], *next = &lists[1], *swap;
	size_t size = sizeof(size_t) * (size_t)re->saves, nowhere[2 * VT_REGEX_GROUPS];
	struct re_place place = {.re = re, .text = text, .length = length};
	bool found = false;

	memset(nowhere, 0xff, sizeof(nowhere));
	memset(match, 0xff, sizeof(*match));
	clear_threads(now, re);
	for (size_t at = from;; at++) {
		if (!found && may_begin(re, text, at)) {
			place.at = place.start = at;
			memcpy(place.saved, nowhere, size);
			add_thread(now, 0, &place);
		}
		clear_threads(next, re);
		for (int i = 0; i < now->count; i++) {
			const struct re_op *op = &re->ops[now->op[i]];

			if (found && now->start[i] > match->start)
				break;
			if (op->code == RE_MATCH) {
				if (!may_end(re, text, at))
					continue;
				found = true;
				match->start = now->start[i];
				match->end = at;
				memcpy(match->group, now->saved + i * re->saves, size);
			} else if (at < length && takes(re, op, (unsigned char)text[at])) {
				place.at = at + 1;
				place.start = now->start[i];
				memcpy(place.saved, now->saved + i * re->saves, size);
				add_thread(next, now->op[i] + 1, &place);
			}
		}
		if (at == length || (found && next->count == 0))
			return found;
		swap = now;
		now = next;
		next = swap;
	}
}

bool vt_regex_matches(const struct vt_regex *re, const char *text)
{
	struct vt_match match;

	return vt_regex_search(re, text, strlen(text), 0, &match);
}
