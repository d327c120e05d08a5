/* What Vitrine's programs share beyond the C library and POSIX. */
#ifndef VT_VT_H
#define VT_VT_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* printf without floating point: a third of the size, where the C library has both. */
#define printf	 iprintf
#define fprintf	 fiprintf
#define sprintf	 siprintf
#define snprintf sniprintf

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* The program's name without its path, for messages. Set before main(). */
extern const char *vt_name;

/* --- messages (message.c) --- */

/* Print "name: text" and a newline to standard error. */
void vt_warn(const char *format, ...) __attribute__((format(__printf__, 1, 2)));
/* Print "name: what: text of errno" to standard error. */
void vt_warn_errno(const char *what);
/* The same, then exit with status. */
void vt_die(int status, const char *format, ...) __attribute__((noreturn, format(__printf__, 2, 3)));
void vt_die_errno(int status, const char *what) __attribute__((noreturn));
/* malloc, realloc and strdup that exit with status 2 when there is no memory. */
void *vt_malloc(size_t size);
void *vt_realloc(void *p, size_t size);
char *vt_strdup(const char *s);

/* --- command lines (options.c) --- */

/* A long option, "--name", "--name=VALUE" or "--name VALUE", stands for a letter. A row without a name ends a table. */
struct vt_long_option {
	const char *name;
	char letter; /* one that nobody can type where the option has no short form */
};

/*
 * Options of one program, read by vt_option(). usage is what follows "Usage: "; options as for getopt: a
 * letter each, a colon after those that take an argument. bad_status is what the program exits with on a bad
 * option (1 or 2). help is what --help says below the usage line, or NULL: whole lines, one for each option.
 */
struct vt_options {
	const char *usage;
	const char *options;
	const struct vt_long_option *longs; /* or NULL */
	const char *help;
	int bad_status;
	bool in_order;	 /* options end at the first operand, which begins a command or may itself begin with
			    '-' */
	int index;	 /* of the next argument; after the last option, of the first operand */
	int passed;	 /* operands from index on that stand before the word taken next */
	const char *arg; /* argument of the option just returned */
	const char *at;	 /* inside a cluster such as -la: what is left of it, or NULL */
};

/*
 * Take the next option. Returns its letter, or -1 when there are no more: then all operands stand from index
 * on. Options may stand behind operands unless in_order is set, and end after "--". Words of argv are moved.
 * --help is vt_help(); an unknown option or a missing argument says so and exits
 * bad_status.
 */
int vt_option(struct vt_options *o, int argc, char **argv);
/*
 * Take the options of a program to which they make no difference, if it has any. Another number of operands than least
 * to most is vt_usage(). Afterwards the operands stand from index on.
 */
void vt_operands(struct vt_options *o, int argc, char **argv, int least, int most);
/* Print "Usage: ..." and what else there is to say on standard output, and exit with status 0. */
void vt_help(const struct vt_options *o) __attribute__((noreturn));
/* Say "Usage: ..." on standard error and exit with bad_status. */
void vt_usage(const struct vt_options *o) __attribute__((noreturn));
/* Read a decimal, 0x or 0 number that is all of text. Returns 0, or -EINVAL or -ERANGE (out of min..max). */
int vt_number(const char *text, long min, long max, long *value);
/* The same, but says what was wrong and exits with status. */
long vt_number_or_die(int status, const char *text, long min, long max);
/* Read seconds with an optional fraction ("1.5") and unit (s m h d) into nanoseconds. Returns 0 or -EINVAL.
 */
int vt_seconds(const char *text, int64_t *ns);

/* --- modules (module.c) --- */

/* "/host/my-module.ko" names my_module. In place; returns where the name begins. */
char *vt_module_name(char *path);
/* Words with a blank between them, and quotes where a value has one. Memory to free; NULL: out of memory. */
char *vt_module_params(char **words, int n);

/* --- input and output (io.c) --- */

/* read(2), begun again when a signal handler has interrupted it. Returns as read() does. */
ssize_t vt_read(int fd, void *buf, size_t size);
/* Write all of buf, in as many writes as it takes. Returns 0, or -1 with errno. */
int vt_write_all(int fd, const void *buf, size_t size);
/* Copy from one descriptor to the other until the end. Returns 0, -1 when reading failed, -2 when writing
 * failed. */
int vt_copy(int from, int to);
/*
 * Read a whole file, which may be one of /proc that has no size; a zero byte is added. *size may be NULL.
 * Returns memory to free, or NULL with errno.
 */
char *vt_read_file(const char *path, size_t *size);
/* The same for what is left of an open file. */
char *vt_read_to_end(int fd, size_t *size);
/* Flush standard output. Returns status, or 1 with a message when something could not be written. */
int vt_finish(int status);

/* Input taken line by line from a descriptor, in blocks. */
struct vt_lines {
	int fd;
	char newline;	/* what ends a line: '\n' unless the caller has set another byte since vt_lines_open() */
	char *buf;	/* allocated; lines are handed out from here */
	size_t size;	/* of buf */
	size_t at, end; /* unread bytes */
	bool eof;
	bool cut;  /* the line taken last is the file's end and has no newline */
	int error; /* errno of a failed read, or 0 */
};

void vt_lines_open(struct vt_lines *l, int fd);
void vt_lines_free(struct vt_lines *l);
/*
 * Take the next line. *line is zero-terminated without its newline and lives until the next call. *length may
 * be NULL. Returns 1, or 0 at the end of input or on an error (then l->error is set).
 */
int vt_line(struct vt_lines *l, char **line, size_t *length);
/*
 * Call work on each named file, "-" and no names at all being standard input. Returns 0, or bad if a file
 * could not be opened (said) or a call returned non-zero.
 */
int vt_each_file(char **names, int bad, int (*work)(int fd, const char *name, void *arg), void *arg);

/* --- names and paths (path.c) --- */

/* dir + "/" + name in new memory. */
char *vt_join(const char *dir, const char *name);
/*
 * The names in a directory without "." and "..", in the order found: an allocated list that ends in NULL.
 * Returns NULL with errno, also when reading fails half-way. vt_names_free() gives all of it back and takes
 * NULL.
 */
char **vt_names(const char *dir);
void vt_names_free(char **names);
/* For qsort() of such a list: by bytes. */
int vt_by_name(const void *a, const void *b);
/* The part after the last slash, in place; trailing slashes are not looked at. */
const char *vt_basename(const char *path);
/* Find an executable as execvp does. Returns new memory, or NULL. */
char *vt_which(const char *name);
/* Where from -> to goes: to itself, or to/basename when to is a directory. Returns new memory. */
char *vt_target(const char *from, const char *to);
/*
 * The operands of cp and mv, "FROM... TO", from argv[o->index] on: call work for each FROM with the name it
 * gets. Returns whether any call returned non-zero. Wrong operands end the program with o->bad_status.
 */
int vt_to_target(const struct vt_options *o, int argc, char **argv, int (*work)(const char *from, const char *to));
/* The type and permissions of a file as ls -l shows them ("-rwxr-xr-x"), in text. Returns text. */
char *vt_mode_text(unsigned int mode, char text[11]);
/*
 * What text makes of *mode: octal digits, or clauses such as u=rwx,g-w, of which one without a class leaves alone what
 * is in mask. Returns false for anything else.
 */
bool vt_change_mode(const char *text, unsigned int mask, unsigned int *mode);
/* The name of a user or group, the number when it has none (user_names.c). In text. Returns text. */
#define VT_NAME_SIZE 32
char *vt_user_text(unsigned int uid, char text[VT_NAME_SIZE]);
char *vt_group_text(unsigned int gid, char text[VT_NAME_SIZE]);

/*
 * A number of bytes with a unit of 1024 ("1.5K", "12M"), as ls -h shows it: rounded up, so that nothing is
 * shown smaller than it is (mode.c). Returns text.
 */
char *vt_human(unsigned long bytes, char text[24]);

/* Print Markdown as plain text, in lines of so many columns. `text` is cut into pieces (markdown.c). */
void vt_markdown(char *text, size_t width);

/* --- trees of files (walk.c) --- */

struct stat;

/* A file that a walk has come to. All of it lives until visit() returns. */
struct vt_file {
	const char *path;
	const char *name;      /* the last part of path, without slashes at its end */
	const struct stat *st; /* of a link itself */
	size_t depth;	       /* 0: where the walk began */
};

/*
 * visit() is called for each file, a directory before what is in it; it returns whether to enter a directory. With
 * enter(), which then says that, a directory comes after what is in it; visit() returns false for one that enter() does
 * not want. fail() is called with errno for a path that could not be looked at, after which the walk goes on.
 */
struct vt_walker {
	bool (*visit)(const struct vt_file *file);
	bool (*enter)(const struct vt_file *file); /* or NULL */
	void (*fail)(const char *path);
};

/*
 * Visit start and all below it in the order found. Links are not followed. A path too long for the kernel
 * (4096 bytes) fails.
 */
void vt_walk(const struct vt_walker *walker, const char *start);

/* --- CPUs and latencies (cpus.c, deadline.c, plant.c) --- */

struct vt_cpu_set;
struct sched_attr;

/* Add the CPUs of a list such as "0,2-5" to set (<sched.h>). Returns whether text is one. */
bool vt_cpu_list(const char *text, struct vt_cpu_set *set);
/* The list of a set, in new memory. */
char *vt_cpu_text(const struct vt_cpu_set *set);
/* Set those CPUs in set that are online, by /proc/cpuinfo. Returns how many; 0 when that cannot be read. */
int vt_cpus_online(struct vt_cpu_set *set);
/* The periods that deadline tasks may have, from /proc/sys/kernel. */
void vt_deadline_periods(unsigned long *min_us, unsigned long *max_us);
/* Says which times of a deadline task the kernel takes, if it does not take these; else returns NULL. */
const char *vt_deadline_fault(const struct sched_attr *attr);
/*
 * The rest of a program whose one operand is a number of microseconds: have the kernel keep off what its
 * debug file `kind` keeps off for so long. Returns 0; what is wrong ends the program.
 */
int vt_plant(const struct vt_options *o, char **argv, const char *kind);

/* --- running programs (run.c) --- */

/*
 * execve() with this process's environment; a script without "#!", or for a bash that is not there, is run by
 * /bin/sh. Returns only with -1 and errno.
 */
int vt_execve(const char *path, char *const argv[]);
/* Become the program argv[0], searched in $PATH. Failure ends the process: 127 (not found) or 126, after a
 * message. */
void vt_exec(char *const argv[]) __attribute__((noreturn));
/* Run a program in a child and wait for it. Returns 0 with *status as waitpid() gives it, or -1 with errno.
 */
int vt_run(char *const argv[], int *status);

/* --- commands that are given paths, "COMMAND {} ;" or "COMMAND {} +" (command.c) --- */

struct vt_command;

/*
 * Read the words of a command at *args, which must live on, and step over the ; or + that ends them. What is
 * wrong ends the program with status 1 and GNU find's message, which names option. Returns new memory, which
 * nothing frees.
 */
struct vt_command *vt_command_take(const char *option, char ***args);
/*
 * Run it with path for each {}; with {} + only keep path for a later run. Standard output is flushed before.
 * Returns whether the run had status 0, or true.
 */
bool vt_command_run(struct vt_command *c, const char *path);
/* Run {} + for the paths still kept. Returns whether all its runs had status 0. */
bool vt_command_finish(struct vt_command *c);

/* --- times (times.c) --- */

struct timeval;
struct timespec;

/* All in microseconds. */
int64_t vt_microseconds(const struct timeval *t);
int64_t vt_elapsed(const struct timespec *start, const struct timespec *end);
/*
 * Print real, user and system time (in microseconds) to standard error, as bash's `time` does ("real
 * 0m1.234s") or, with posix, as `time -p` ("real 1.23").
 */
void vt_print_times(bool posix, int64_t real, int64_t user, int64_t sys);
/* --- signals (signames.c) --- */

/* The name without SIG, or NULL for a number that has none. */
const char *vt_signal_name(int sig);
/* The text a shell prints when a process dies of it ("Segmentation fault"). Never NULL. */
const char *vt_signal_text(int sig);
/* A number from "9", "KILL" or "SIGKILL", in either case. Returns -1 when there is none. */
int vt_signal_number(const char *text);

/* --- programs that the shell has built in as well; they return the exit status (names as the files) --- */

int vt_echo(int argc, char **argv);
int vt_printf(int argc, char **argv);
int vt_test(int argc, char **argv);
int vt_kill(int argc, char **argv);
/*
 * Take one backslash escape of echo -e, printf or $'..' at *s (after the backslash) and step over it.
 * Returns the byte, or -1 for \c (stop printing).
 */
int vt_escape(const char **s);

/* --- processes (procs.c) --- */

/* One process as /proc/<pid>/stat and cmdline show it. */
struct vt_proc {
	int pid, ppid, pgrp, session;
	unsigned int tty; /* device number of the controlling terminal, 0: none */
	char comm[32];
	char state; /* R S D T Z */
	int priority, nice;
	int policy, rt_priority;
	int cpu;		    /* it ran on last */
	unsigned long utime, stime; /* in 1/100 s */
	unsigned long start;	    /* since boot, in 1/100 s */
	unsigned long vsize;	    /* bytes */
	long rss;		    /* pages */
	char args[256];		    /* command line joined by blanks; "[comm]" for kernel threads */
};

/* Call work for each process in /proc, in the order found. Returns 0, or -1 with errno. */
int vt_each_proc(void (*work)(const struct vt_proc *p, void *arg), void *arg);

/* --- truth expressions of words: ! -not -a -and -o -or ( ) (expression.c) --- */

struct vt_expression;

/*
 * Read the words of args up to its NULL. take() is called at each test: it steps *args over the test's words
 * (one at least) and returns a number for it. No words at all are true. What is wrong ends the program with
 * status 1. Returns new memory, which nothing frees.
 */
struct vt_expression *vt_expression_take(char **args, size_t (*take)(char ***args));
/* Evaluate from left to right, calling test() with the numbers of those tests only that still decide. */
bool vt_expression_true(const struct vt_expression *e, bool (*test)(size_t number, const void *arg), const void *arg);

/* --- regular expressions (regex.c, regex_search.c) and character classes (classes.c) --- */

/* A class such as "[:digit:]" at s. Returns its length with *is the test for a byte (0..255), or 0 when there
 * is none. */
size_t vt_class(const char *s, int (**is)(int c));

struct vt_regex;

#define VT_REGEX_GROUPS 9

/* Where in a text a match lies, as offsets. group: where each of the first nine groups, \( \), begins and ends;
 * SIZE_MAX for one that the match did not go through. */
struct vt_match {
	size_t start, end;
	size_t group[VT_REGEX_GROUPS][2];
};

/* Compile a basic or extended (POSIX) expression. Returns NULL with *error set to a text. */
struct vt_regex *vt_regex_compile(const char *pattern, bool extended, bool ignore_case, const char **error);
/* From now on an expression matches whole words only: no letter, digit or underscore stands beside a match. */
void vt_regex_words(struct vt_regex *re);
/*
 * Find the leftmost match at or after from in a text of so many bytes, behind which a zero must stand: a line without
 * its newline. Returns whether there is one.
 */
bool vt_regex_search(const struct vt_regex *re, const char *text, size_t length, size_t from, struct vt_match *match);
/* The same search, which says only whether a string matches. */
bool vt_regex_matches(const struct vt_regex *re, const char *text);
/* How many groups an expression has, of which the first nine are remembered: 0 to 9. */
int vt_regex_count_groups(const struct vt_regex *re);

#endif
