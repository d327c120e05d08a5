/*
 * Words between white space, as the control files take them that may get several: the names of functions, events and
 * tasks. All of them use this one parser.
 */
#pragma once

#include <lib/string.h>
#include <lib/types.h>

/* The word that is being read. The owner's lock. */
struct word_parser {
	char *word;  /* what has come of it; terminated at all times, unless word_parser_init() has not been called */
	size_t size; /* of the memory at `word` */
	size_t len;
	bool cont; /* the text has ended inside the word: it goes on in the next text */
};

/* `size` bytes at `word`, which stays the caller's: the longest word has size - 1. Any context, as the next two. */
void word_parser_init(struct word_parser *p, char *word, size_t size);
/* Forget the word; the next text begins another one. */
void word_parser_drop(struct word_parser *p);
/*
 * Read white space and then one word from the first `n` bytes (1 or more) of `text`. White space and a zero byte end a
 * word; the byte that ends it is read, too. A word that was not ended by the text before is continued.
 *
 * Returns how many bytes were read. Afterwards p->len is 0 when there was no word, which is so at a zero byte that
 * stands in its place; and p->cont says that the text has not ended the word. -EINVAL: the word is too long, and is
 * dropped. WORD_TOO_LONG says that to the user.
 */
ssize_t word_parse(struct word_parser *p, const char *text, size_t n);
/* Does this byte end a word? */
static inline bool word_ends_at(char c)
{
	return !c || isspace(c);
}
#define WORD_TOO_LONG "a word is longer than what the file takes"
