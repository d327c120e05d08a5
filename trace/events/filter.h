/*
 * Filters as programs. What is here knows records and the tables of their fields, and nothing else of tracing: unit
 * tests build it on the host.
 */
#pragma once

#include <kernel/smp.h>
#include <trace/trace_events.h>

/* The operators. Texts have only the first three. */
enum filter_op {
	OP_GLOB,
	OP_NE,
	OP_EQ,
	OP_LE,
	OP_LT,
	OP_GE,
	OP_GT,
	OP_BAND,
	NR_FILTER_OPS,
};

/* The kinds of mistakes in a filter; their texts are Linux's (filter_error_texts). */
enum filter_error {
	FILT_ERR_NONE,
	FILT_ERR_INVALID_OP,
	FILT_ERR_TOO_MANY_OPEN,
	FILT_ERR_TOO_MANY_CLOSE,
	FILT_ERR_MISSING_QUOTE,
	FILT_ERR_MISSING_BRACE_OPEN,
	FILT_ERR_MISSING_BRACE_CLOSE,
	FILT_ERR_OPERAND_TOO_LONG,
	FILT_ERR_EXPECT_STRING,
	FILT_ERR_EXPECT_DIGIT,
	FILT_ERR_ILLEGAL_FIELD_OP,
	FILT_ERR_FIELD_NOT_FOUND,
	FILT_ERR_ILLEGAL_INTVAL,
	FILT_ERR_BAD_SUBSYS_FILTER,
	FILT_ERR_INVALID_CPULIST,
	FILT_ERR_TOO_MANY_PREDS,
	FILT_ERR_INVALID_VALUE,
	FILT_ERR_ERRNO,
	FILT_ERR_NO_FILTER,
	FILT_ERR_NO_FUNCTION,
	NR_FILTER_ERRORS,
};
extern const char *const filter_error_texts[NR_FILTER_ERRORS];

/* What is wrong with a filter. With FILT_ERR_NONE there is only the errno. */
struct filter_problem {
	enum filter_error error;
	unsigned column; /* where Linux's caret points: inside a term one column to the right of the fault */
};

/* One term, and the number of the term that comes after it: next[0] when it is false, next[1] when it is true. */
struct filter_pred {
	u8 filter_type; /* enum trace_filter_type */
	u8 op;		/* enum filter_op */
	bool is_signed;
	bool invert;	  /* the result */
	bool in_function; /* .function: low and span are that of one */
	bool in_cpus;	  /* the field against the set of CPUs `low`: one of OP_EQ, OP_NE, OP_BAND */
	u16 offset, size; /* of the field in the record; COMM and CPU have only a size */
	u16 next[2];
	union {
		const char *text; /* in event_filter.words */
		u64 low;	  /* OP_BAND, in_cpus: the bits; else, of numbers: low <= field <= low + span */
	};
	u64 span;
};

/* A program. Immutable once it is made, but for `retired`. */
struct event_filter {
	struct event_filter *retired; /* [event_mutex] the next program that waits until no probe runs it any more */
	char *words;		      /* a copy of the text, cut where patterns end; behind preds */
	unsigned nr;		      /* next[] == nr: the record passes; nr + 1: it does not */
	struct filter_pred preds[];
};

#define FILTER_TEXT_MAX	   4096 /* with the zero at its end */
#define FILTER_PATTERN_MAX 256

/* The fields that all records have. events/filter_term.c */
extern const struct trace_event_field trace_common_fields[];

/*
 * The program of `text` for records with these fields, or ERR_PTR: -EINVAL, what Linux returns for parentheses and
 * quotes, -ENOMEM. But for the last one *problem says more. May sleep. Ends with filter_free.
 */
struct event_filter *filter_parse(const struct trace_event_field *fields, const char *text,
				  struct filter_problem *problem);
void filter_free(struct event_filter *filter);

/*
 * Parse what stands between the braces of CPUS{}, a list of CPUs as in Linux. False: it is no list, or names a CPU
 * beyond NR_CPUS.
 */
bool filter_parse_cpus(const char *at, const char *end, u64 *cpus);

/*
 * Copy a string from the current task's memory, cut to what fits with its zero. No page is brought into memory for it.
 * False: a part of it is not in memory. Context: as filter_match. events/filter_user.c
 */
bool filter_user_text(char *to, size_t size, const char __user *from);

/* Does the record pass? Any context, preemption off. It takes no lock, allocates nothing, and runs each term once. */
bool filter_match(const struct event_filter *filter, const void *record);
