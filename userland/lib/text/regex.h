/* The program that a regular expression becomes: regex.c compiles it, regex_search.c runs it. */
#ifndef REGEX_H
#define REGEX_H

#include <vt.h>

/* What an instruction does: take a byte, hold at a place only, note the place, or go on elsewhere. */
enum {
	/* Take a byte. */
	RE_BYTE,
	RE_ANY,
	RE_SET,
	/* Hold at a place. */
	RE_START,
	RE_END,
	RE_WORD_START,
	RE_WORD_END,
	RE_WORD_EDGE,
	RE_NO_WORD_EDGE,
	RE_SAVE,
	RE_SPLIT,
	RE_JUMP,
	RE_MATCH
};

#define RE_MAX 4096 /* instructions; a larger expression is refused */

struct re_op {
	unsigned char code;
	unsigned char byte;	    /* RE_BYTE; RE_SAVE: which end of which group, an index into saves */
	unsigned short next, other; /* RE_SPLIT: both; RE_JUMP: next */
	uint32_t *set;		    /* RE_SET: 256 bits */
};

struct vt_regex {
	struct re_op *ops; /* owned; the first instruction is the start */
	int count;	   /* of ops */
	int saves;	   /* two for each group that is remembered: where it begins and ends */
	bool ignore_case;
	bool words; /* a match has no part of a word on either side */
};

#endif
