/*
 * Filters as programs. What is here knows records and the tables of their fields, and nothing else of tracing: unit
 * tests build it on the host.
 */
#pragma once

#include <kernel/smp.h>
#include <trace/trace_events.h>

/* A pattern, or a comparison of numbers; texts have the first three. */
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

/* What was found wrong. The texts are Linux's: filter_error_texts. */
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

/* NONE: there is nothing to say but the errno. */
struct filter_problem {
	enum filter_error error;
	unsigned column; /* where Linux's caret points: inside a term one column to the right of the fault */
};

/* One term, and which comes after it: next[0] when it is false, next[1] when it is true. */
struct filter_pred {
	u8 filter_type; /* enum trace_filter_type */
	u8 op;		/* enum filter_op */
	bool is_signed;
	bool invert;	  /* the result */
	bool in_function; /* .function: low and span are that of one */
	bool in_cpus;	  /* the field against the set of CPUs `low`: one of OP_EQ, OP_NE, OP_BAND */
	u16 offset, size; /* of the field; of COMM and CPU only the size counts */
	u16 next[2];
	union {
		const char *text; /* in event_filter.words */
		u64 low;	  /* OP_BAND, in_cpus: the bits; else, of numbers: low <= field <= low + span */
	};
	u64 span;
};

/* A program. Immutable from when it is made. */
struct event_filter {
	struct event_filter *retired; /* [event_mutex] next of those that wait for probes to be done with them */
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

/* What stands between the braces of CPUS{}, as Linux lists CPUs. False: it is no list, or beyond NR_CPUS. */
bool filter_parse_cpus(const char *at, const char *end, u64 *cpus);

/*
 * A string of current's own memory, cut to what fits with its zero; nothing is brought into memory for it. False: it is
 * not there. Context: as filter_match. events/filter_user.c
 */
bool filter_user_text(char *to, size_t size, const char __user *from);

/* Does the record pass? Any context, preemption off; nothing is locked or allocated, and no term comes twice. */
bool filter_match(const struct event_filter *filter, const void *record);
