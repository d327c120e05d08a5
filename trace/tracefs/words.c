/*
 * What ends a word. The rules are Linux's, and docs/words.md shows them for each file. A C program may write a name
 * with the zero at its end, a shell writes it with a newline, and a file from another system has a carriage return
 * before that.
 */
#include <lib/errno.h>

#include "words.h"

void word_parser_init(struct word_parser *p, char *word, size_t size)
{
	p->word = word;
	p->size = size;
	word_parser_drop(p);
}

void word_parser_drop(struct word_parser *p)
{
	p->cont = false;
	p->len = 0;
	p->word[0] = '\0';
}

/* A zero in front of a word is not skipped, as white space is: it ends a word that has no letters. */
ssize_t word_parse(struct word_parser *p, const char *text, size_t n)
{
	size_t done = 0;

	if (!p->cont) {
		word_parser_drop(p);
		while (done < n && isspace(text[done]))
			done++;
	}
	for (; done < n && !word_ends_at(text[done]); done++) {
		if (p->len >= p->size - 1) {
			word_parser_drop(p);
			return -EINVAL;
		}
		p->word[p->len++] = text[done];
	}
	p->word[p->len] = '\0';
	p->cont = p->len && done == n;
	return done + (done < n);
}
