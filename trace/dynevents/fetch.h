/*
 * Fetch arguments: what a probe event records, as words such as "name=+8(%x0):string". A word is compiled into a small
 * program (fetch_parse.c), which each hit runs (fetch.c):
 *
 *	where a value comes from	a register, the stack, a result, a field, a constant
 *	steps from there		an offset is added, and a word is read at that address
 *	how it is stored		as it is; from memory; as a string; as the text of a symbol
 *
 * fetch_types.c has the types, and makes the texts of `format` and of a line of the trace.
 */
#pragma once

#include <lib/string.h>
#include <lib/types.h>
#include <trace/trace_events.h>

struct dyn_command;
struct pt_regs;
struct seq_file;

#define FETCH_ARGS_MAX	  128 /* arguments of an event, and the limits of words: all as in Linux */
#define FETCH_NAME_MAX	  32
#define FETCH_TEXT_MAX	  63
#define FETCH_ARRAY_MAX	  64
#define FETCH_STEPS_MAX	  15
#define FETCH_STRING_MAX  1024u /* bytes of a string with its zero; what is longer is cut */
#define FETCH_STRINGS_MAX 3072u /* of all strings of a record */

/* What the words may name: of which kind of probe they are. */
#define FETCH_KERNEL   0x01u /* symbols, addresses of the kernel */
#define FETCH_USER     0x02u /* addresses are the program's; @+OFFS is an offset in its file */
#define FETCH_ENTRY    0x04u /* at the first instruction of a function: $argN */
#define FETCH_RETURN   0x08u /* at a return: $retval, and $argN as it was at the entry */
#define FETCH_OF_EVENT 0x10u /* of a record of another event: $FIELD */
#define FETCH_TPOINT   0x40u /* at a tracepoint: $argN is one of its arguments */
#define FETCH_NO_REGS  0x20u /* there are no registers, but the stack pointer where there is one */

#define TPOINT_ARGS 12 /* arguments of a tracepoint that can be named */

enum fetch_op {
	FETCH_REG,    /* param: its offset in pt_regs */
	FETCH_STACK,  /* param: the number of the word */
	FETCH_STACKP, /* the stack pointer */
	FETCH_RETVAL,
	FETCH_ARG,	 /* param: its number, from 0 */
	FETCH_ENTRY_ARG, /* param: its place in fetch_source.entry */
	FETCH_IMM,	 /* imm */
	FETCH_FILE,	 /* imm: an offset in the probed file */
	FETCH_FIELD,	 /* field */
	FETCH_COMM,	 /* the task's name */
	FETCH_TEXT,	 /* text */
};

enum fetch_store {
	FETCH_RAW,    /* the value */
	FETCH_MEM,    /* what stands at the address */
	FETCH_STRING, /* the string at the address */
	FETCH_SYMSTR, /* the symbol that the value is an address of */
};

struct fetch_type {
	const char *name;
	u8 size; /* bytes; of a string its word in the record */
	bool is_signed, is_string;
	bool user;	    /* a string in the program's memory */
	const char *c_type; /* in `format` */
	const char *fmt;    /* of printf, in the texts of `format` */
};

/* A step: add the offset, and read a word there. */
struct fetch_step {
	long offset;
	bool user; /* only in the program's memory */
};

/* An argument. Immutable once the event is there. */
struct fetch_arg {
	char *name;
	char *word; /* what stands behind "name=", for showing it */
	const struct fetch_type *type;
	u8 op;			  /* enum fetch_op */
	u8 store;		  /* enum fetch_store */
	u8 nr_steps;		  /* without the last one, when that is a part of storing */
	bool last_user;		  /* of FETCH_MEM and FETCH_STRING: only in the program's memory */
	bool pointers;		  /* of an array: its elements are pointers to strings */
	u8 bits_left, bits_right; /* of a bit field: shifts that cut it out; 0, 0: none */
	u16 count;		  /* of an array; 0: a single value */
	u16 offset;		  /* in the record */
	long last;		  /* of FETCH_MEM and FETCH_STRING: added to the address */
	union {
		unsigned param;
		u64 imm;
		const struct trace_event_field *field;
		char *text;
	};
	char *symbol; /* FETCH_IMM: "SYM[+offs]", whose address it is; NULL: it is none */
	struct fetch_step steps[FETCH_STEPS_MAX];
};

/* One of fetch_args.moves: a number that goes from pt_regs to the record as it is. */
struct fetch_move {
	u16 from, to; /* offsets in bytes */
	u8 size;      /* bytes: 1, 2, 4 or 8; 0: this is the end */
};
#define FETCH_MOVES_MAX 16

/* All arguments of an event. */
struct fetch_args {
	unsigned nr;
	unsigned head; /* bytes of the record in front of them */
	unsigned size; /* bytes of the record without strings */
	bool dynamic;  /* there are strings */
	bool plain;    /* each argument is a register as it is, and has its place in moves */
	u8 nr_entry;   /* words of fetch_source.entry that they need, */
	u16 entry[16]; /* and the numbers of the arguments that these are */
	struct fetch_move moves[FETCH_MOVES_MAX + 1];
	struct fetch_arg *args[FETCH_ARGS_MAX];
};

/* What is known at a hit. A field that the program cannot name (FETCH_*) may be left out. */
struct fetch_source {
	const struct pt_regs *regs; /* NULL: there are none, and sp is the stack pointer */
	unsigned long retval, sp;
	const unsigned long *entry; /* arguments that were kept at the entry, or those of a tracepoint */
	const void *record;	    /* of the other event */
	unsigned long file_base;    /* where the probed file begins in memory */
	bool user;		    /* all addresses are the program's */
	bool at_entry;		    /* regs are those of a function's first instruction */
};

/*
 * ---- fetch_parse.c. Thread context; may sleep.
 *
 * Compile the words c->words[first ...] into *args, which the caller has filled with zeros but for `head`. `flags`:
 * FETCH_*. `fields`: of the other event, with FETCH_OF_EVENT. 0; -EINVAL by dyn_refuse(); -ENOENT: no such symbol;
 * -E2BIG: too many; -ENOMEM. After an error fetch_free() must be called, too.
 */
int fetch_parse(struct fetch_args *args, struct dyn_command *c, unsigned first, unsigned flags,
		const struct trace_event_field *const fields[2]);
void fetch_free(struct fetch_args *args);
/* The symbols that the arguments name have come, or moved: find them again. 0 or -ENOENT. */
int fetch_resolve(struct fetch_args *args);

/*
 * ---- fetch.c. Any context in which the source's memory may be looked at without faults; preemption off.
 *
 * How many bytes do the strings need now? Then fill the record: its arguments, and the strings behind them, for which
 * there are `room` bytes. What cannot be read becomes 0, and a string "(fault)".
 */
unsigned fetch_strings_size(const struct fetch_args *args, const struct fetch_source *src);
void fetch_run(const struct fetch_args *args, const struct fetch_source *src, void *record, unsigned room);
/*
 * Read all memory that fetch_run() will read, so that missing pages of the program are brought in. Thread context, with
 * preemption and interrupts on; sleeps.
 */
void fetch_touch(const struct fetch_args *args, const struct fetch_source *src);

/* At the end of fetch_parse(): sets args->plain and args->moves. Thread context. */
void fetch_find_plain(struct fetch_args *args);

/* By its size, so that no call is needed: fields are packed, and need not be aligned. */
static __always_inline void fetch_put_value(char *at, u64 value, unsigned size)
{
	switch (size) {
	case 8:
		memcpy(at, &value, 8);
		break;
	case 4:
		memcpy(at, &value, 4);
		break;
	case 2:
		memcpy(at, &value, 2);
		break;
	default:
		*at = (char)value;
	}
}
/* fetch_run() for args->plain. */
static __always_inline void fetch_registers(const struct fetch_args *args, const struct pt_regs *regs, char *record)
{
	const struct fetch_move *move = args->moves;

	for (; likely(move->size == 8); move++)
		memcpy(record + move->to, (const char *)regs + move->from, 8);
	for (; move->size; move++)
		fetch_put_value(record + move->to, *(const u64 *)((const char *)regs + move->from), move->size);
}

/* For %pd and %pD: the offset of the name's pointer in a dentry, and of the dentry's pointer in an open file. */
extern const unsigned fetch_dentry_name, fetch_file_dentry;

/* ---- fetch_types.c. Any context, but for those that allocate. */
const struct fetch_type *fetch_type_find(const char *name); /* NULL: unknown */
const struct fetch_type *fetch_type_default(void);
/* " name=word:type" for each. */
void fetch_show(struct seq_file *m, const struct fetch_args *args);
/* " name=value" for each, from a record. */
void fetch_print(struct seq_file *s, const struct fetch_args *args, const void *record);
/* The rest of a format behind `head`, such as "(%lx)\", REC->__probe_ip". The caller frees it; NULL: no memory. */
char *fetch_print_fmt(const struct fetch_args *args, const char *head_fmt, const char *head_args);
/*
 * The fields of the record: `head`, which ends with name NULL, and the arguments. To be freed by the second. NULL: no
 * memory.
 */
struct trace_event_field *fetch_fields(const struct fetch_args *args, const struct trace_event_field *head);
void fetch_fields_free(struct trace_event_field *fields);
/* The number of the first argument in which two events differ; a->nr: they do not differ. */
unsigned fetch_differ(const struct fetch_args *a, const struct fetch_args *b);
/* Are the words of the arguments, with names, the same? */
bool fetch_same_words(const struct fetch_args *a, const struct fetch_args *b);
