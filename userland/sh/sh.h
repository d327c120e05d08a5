/* The shell's parts: what each file offers the others. */
#ifndef SH_SH_H
#define SH_SH_H

#include <vt.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/types.h>

/* --- memory that is given back in one go (arena.c) --- */

struct arena {
	struct arena_chunk *top;
};

struct arena_mark {
	struct arena_chunk *chunk;
	size_t used;
};

/* Never NULL: the shell ends when there is no memory. 16-byte aligned. */
void *arena_alloc(struct arena *a, size_t size);
char *arena_copy(struct arena *a, const char *s, size_t n);
struct arena_mark arena_mark(struct arena *a);
/* Give back everything allocated since the mark. */
void arena_release(struct arena *a, struct arena_mark mark);

/* --- the tree of a command (built by parse.c) --- */

/* A word as it was written, with its quotes. */
struct word {
	char *text;
	struct word *next;
};

enum redir_type { REDIR_IN, REDIR_OUT, REDIR_APPEND, REDIR_READ_WRITE, REDIR_DUP, REDIR_HERE };

struct redir {
	enum redir_type type;
	bool out; /* REDIR_DUP: it was written >& */
	int fd;
	char *target; /* word; for REDIR_HERE the delimiter */
	char *body;   /* REDIR_HERE: the text */
	bool quoted;  /* REDIR_HERE: the delimiter was quoted, so the body is taken as it is */
	bool strip;   /* REDIR_HERE: <<-, leading tabs go */
	struct redir *next;
	struct redir *here_next; /* REDIR_HERE: next one whose body is still to be read */
};

enum node_type {
	N_SIMPLE,
	N_PIPE,
	N_AND,
	N_OR,
	N_SEQUENCE,
	N_BACKGROUND,
	N_NOT,
	N_TIME,
	N_IF,
	N_WHILE,
	N_UNTIL,
	N_FOR,
	N_CASE,
	N_FUNCTION,
	N_SUBSHELL,
	N_GROUP,
};

/* One arm of a case: patterns and what to do. */
struct case_arm {
	struct word *patterns;
	struct node *body;
	struct case_arm *next;
};

/*
 * left, right and other are: both sides of an operator; the condition, body and else part of if; condition
 * and body of while; body (left) of for, a function, ( ) and { }.
 */
struct node {
	enum node_type type;
	struct node *left, *right, *other;
	struct word *words;   /* simple: the command; for: the items; case: the subject */
	struct word *assigns; /* simple: name=value before the command */
	struct redir *redirs; /* of any command */
	struct case_arm *arms;
	char *name;	/* for: the variable; function: its name */
	bool posix;	/* time: -p was there */
	bool has_items; /* for: "in" was there */
	char *text;	/* background and pipe: as it was written, for jobs */
};

/* --- input and tokens (lex.c) --- */

enum token {
	T_EOF,
	T_NEWLINE,
	T_WORD,
	T_AND_IF,
	T_OR_IF,
	T_DSEMI,
	T_AMP,
	T_SEMI,
	T_PIPE,
	T_LPAREN,
	T_RPAREN,
	T_REDIR,
};

struct lexer {
	char *buf; /* what has been read and not yet dropped */
	size_t at, end;
	/* Append a line to buf by lex_append(). Returns false at the end of input. NULL: there is no more. */
	bool (*more)(struct lexer *lx);
	int fd;		     /* for more() */
	bool first_line;     /* the next line begins a command: choose the prompt */
	bool fixed;	     /* buf belongs to somebody else */
	bool input;	     /* of the shell itself: what set -v shows */
	bool in_line;	     /* the first byte of a line has been taken */
	int line;	     /* number of the current one */
	struct arena *arena; /* where words go */
	/* The token just taken. */
	enum token token;
	char *text;	     /* T_WORD */
	struct redir *redir; /* T_REDIR: its type and fd (and strip) are set */
	struct redir *here;  /* here-documents whose body comes at the next newline */
};

/* Read from a string that stays. */
void lex_string(struct lexer *lx, const char *text, struct arena *arena);
void lex_append(struct lexer *lx, const char *text, size_t n);
/* Take the next token into lx->token, text, redir. */
void lex_next(struct lexer *lx);
/* Drop what has been taken, before a new command. */
void lex_drop(struct lexer *lx);
/* Length of the $.. or `..` construct at s. A bare dollar is 1. */
size_t lex_dollar_length(const char *s);
/* Length of a double-quoted string at s, both quotes included. */
size_t lex_dquote_length(const char *s);

/* --- commands (parse.c) --- */

/*
 * Parse one complete command up to its newline. Returns NULL for an empty line, and at the end of the input
 * (then lx->token is T_EOF). A syntax error is reported by sh_error().
 */
struct node *parse_command(struct lexer *lx);

/* --- what other shells have (foreign.c): each of these returns, or ends the command by sh_error() --- */

void foreign_refuse(const struct lexer *lx, const char *what, const char *instead) __attribute__((noreturn));
/* The first word of a command. */
void foreign_command(const struct lexer *lx, const char *word);
/* A function of this name is defined. */
void foreign_defined(const char *name);
/* An assignment, and the token behind it is an opening parenthesis. */
void foreign_array(const struct lexer *lx, const char *word);
/* A word that bash would make several of; and ${ } in any word. */
void foreign_braces(const struct lexer *lx, const char *word);
void foreign_parameters(const struct lexer *lx, const char *word);
/* The target of >& (out) or <&. */
void foreign_duplicate(const struct lexer *lx, const char *target, bool out);
/* An opening parenthesis where a command begins. */
void foreign_arithmetic(const struct lexer *lx);

/* --- variables (vars.c) --- */

struct var {
	char *name;
	char *value; /* NULL: exported or local, but not set */
	bool exported, readonly;
	struct var *next;
};

/* Returns NULL when it is not set. */
const char *var_get(const char *name);
void var_set(const char *name, const char *value);
void var_set_number(const char *name, long value);
void var_unset(const char *name);
void var_export(const char *name);
/* Make it readonly. */
void var_protect(const char *name);
/* Take "name=value" apart. Returns false if it is no assignment (name is no identifier). */
bool var_is_assignment(const char *text);
size_t var_name_length(const char *text);
void var_assign(const char *assignment);
/* Remember a variable until the function returns. */
void var_save(const char *name);
/* The number of remembered ones, and going back to an earlier number by restoring them. */
size_t var_saved(void);
void var_restore(size_t count);
/* Environment of a new program, in the arena. */
char **var_environment(struct arena *a);
void var_init(char **environment);
/* Print the text in quotes, so that a shell reads it back as it is. */
void print_quoted(const char *text);
/* Print what is exported, readonly or all, in a form that can be read back. */
void var_print(const char *prefix, bool exported, bool readonly);

/* --- expansion (expand.c, param.c, arith.c) --- */

/* A text under expansion: a byte and where it came from in each element. */
enum {
	X_QUOTED = 0x100, /* nothing special: neither split nor matched */
	X_SPLIT = 0x200,  /* from an unquoted expansion: split at $IFS */
	X_BREAK = 0x400,  /* a new field begins (between the parts of $@); the byte joins them where nothing is split */
	X_MARK = 0x800,	  /* no byte: there were quotes, so the field is there even if empty */
};

struct xtext {
	unsigned short *v;
	size_t n, size;
	bool assigned; /* the value of a variable: a ~ counts behind a colon, too */
};

void x_add(struct xtext *x, unsigned short element);
void x_add_string(struct xtext *x, const char *s, unsigned short flags);
void x_free(struct xtext *x);
/* Expand text into x. flags: X_QUOTED within double quotes, else 0. here: in a here-document, quotes are
 * plain. */
void x_expand(struct xtext *x, const char *text, size_t n, unsigned short flags, bool here);
/* The same for a whole word, at whose beginning a ~ counts outside of quotes. */
void x_expand_word(struct xtext *x, const char *text, unsigned short flags);
/* The bytes of x as a string, or as a pattern in which quoted bytes have backslashes. In sh.temp. */
char *x_string(const struct xtext *x);
char *x_pattern(const struct xtext *x);
/* Expand the $.. construct of n bytes at s into x (param.c). */
void x_dollar(struct xtext *x, const char *s, size_t n, unsigned short flags);

/* Words into fields: NULL-terminated, in sh.temp. *count may be NULL. command: they are those of a simple command. */
char **expand_words(const struct word *words, int *count, bool command);
/* One word into one string: no splitting, no file names. expand_value: a ~ counts behind each colon, too. */
char *expand_string(const char *text);
char *expand_value(const char *text);
/* A word as a pattern for fnmatch(). */
char *expand_pattern(const char *text);
char *expand_here(const char *body);
/* Put the names that pattern matches, sorted, into list (add called for each). Returns their number (glob.c).
 */
size_t glob_expand(const char *pattern, char ***names);
/* Value of an arithmetic expression. */
long arith_eval(const char *text);

/* --- running (exec.c, command.c, redirect.c) --- */

enum { EXEC_NO_FORK = 1 }; /* this process has nothing else to do: replace it */

/* Run a tree. Returns the status, which is also in sh.status. */
int exec_node(struct node *n, int flags);
/* Run a simple command (command.c). Returns its status. */
int exec_simple(struct node *n, int flags);
/* Make n's body the function of its name: the tree must be kept. Returns 0. */
int exec_define_function(struct node *n);
/* Run text in this shell: a command's (eval, a trap), or a script, which is input for set -v. */
int exec_string(const char *text);
int exec_script(const char *text);
/* As exec_script() for a process that has nothing else to do (sh -c): the last command may take its place. */
int exec_command(const char *text);
/* Run a whole script from what lx reads. */
int exec_input(struct lexer *lx);
/* An error jumps away from all commands that are being read or run: their trees are given back. */
void exec_abandon(void);
/* Run the function, builtin or program argv[0] without looking for functions. */
int exec_program(char **argv, int flags);
/* Replace this process by a program, or by this shell reading the script it is. Reports failure and exits. */
void exec_replace(char **argv) __attribute__((noreturn));
/* Whether a function of that name is there. */
bool exec_is_function(const char *name);
void exec_unset_function(const char *name);
/* What a shell does in a new child: no traps, no job control, default signals. */
void exec_child(void);
/* End the shell: the EXIT trap, then exit(). */
void sh_exit(int status) __attribute__((noreturn));

/*
 * Do redirections; saved descriptors go on a stack so that redir_restore() undoes them. keep: for good (exec,
 * children). Returns 0, or -1 after a message.
 */
int redir_apply(const struct redir *r, bool keep);
size_t redir_saved(void);
void redir_restore(size_t count);
/* In a child: close the saved descriptors, so that it does not hold open a pipe it has nothing to do with. */
void redir_forget(void);

/* --- builtins (builtins.c, builtins_set.c) --- */

struct builtin {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage, *does; /* for `help` */
};

const struct builtin *builtin_find(const char *name);
/* Call work for each name, for completion. */
void builtin_each(void (*work)(const char *name, void *arg), void *arg);
int builtin_set(int argc, char **argv);
int builtin_read(int argc, char **argv);
int builtin_getopts(int argc, char **argv); /* getopts.c */
int builtin_trap(int argc, char **argv);
/* Take "-exu"-like options of set or the command line. Returns false for an unknown one. */
bool set_options(const char *letters, bool on);

/* --- traps (trap.c) --- */

/* Run what has been trapped since the last call. */
void trap_run_pending(void);
/* Run the EXIT trap, once. */
void trap_run_exit(void);
/* The lowest signal that has been trapped and whose action has not run yet, or 0. */
int trap_first_pending(void);
/* Whether any action is to run, at a signal or at the end. */
bool trap_is_set(void);
/* Whether `trap '' SIGNAL` is in force. */
bool trap_ignores(int sig);
/* In a child: traps that run something go, ignored signals stay ignored. */
void trap_reset(void);

/* --- the gate of a pipeline (gate.c): -1 in both places: there is no gate --- */

void gate_make(int gate[2]);
void gate_open(int gate[2]);
void gate_wait(int gate[2]);

/* --- jobs (jobs.c) --- */

struct job;

/* A new job of which no process runs yet. text is copied. */
struct job *job_new(const char *text);
/* Of a pipeline in the foreground: its processes wait for job_wait() to give them the terminal. Before the first. */
void job_gate(struct job *job);
/*
 * Fork a process into the job. Returns 0 in the child (all set up for it), its id in the parent, or -1 with
 * errno.
 */
pid_t job_try_fork(struct job *job, bool background);
/* Give up a job that could not be started whole. What runs of it ends by itself and is told of like any
 * other. */
void job_abandon(struct job *job);
/* The same as job_try_fork(), but a failure abandons the job and is an error of the shell (sh_error()). */
pid_t job_fork(struct job *job, bool background);
/* Wait until it is done or stopped. Returns the status of its last process. */
int job_wait(struct job *job);
/* Leave it in the background: tell its number (interactive) and set $!. */
void job_background(struct job *job);
/* Tell of jobs that have ended, without waiting. */
void job_report(void);
/* In a child: these are not our children. `jobs` still lists them, until it has some of its own. */
void job_forget(void);
/* Take the terminal and the signals of an interactive shell. */
void job_init(void);
/* Have the terminal again if another process group has taken it. Returns whether that was so. */
bool job_take_terminal(void);
int builtin_jobs(int argc, char **argv);
int builtin_fg(int argc, char **argv);
int builtin_bg(int argc, char **argv);
int builtin_wait(int argc, char **argv);
/* The process group for "%1" as text for kill, in sh.temp; other words as they are. NULL after a message: no
 * such job. *stopped gets what to send a SIGCONT to if that job is stopped, else 0. */
char *job_to_pid(char *word, pid_t *stopped);

/* --- signals (signals.c) --- */

/*
 * fork() with all signals blocked: the child must not get one before it has its own dispositions, as the
 * shell ignores what is to end it. The child then calls job_unblock_child().
 */
pid_t job_fork_blocked(void);
void job_unblock_child(void);
/* In a child, or before another program takes this process over: undo job_init()'s signals, but for those
 * that trap ignores. */
void job_default_signals(void);
/* SIGINT, SIGQUIT and SIGTERM as an interactive shell wants them. */
void job_init_signals(void);
/* What a child does of it; background: without job control ^C must not reach it. own_group: with job control.
 */
void job_child_signals(bool background, bool own_group);
/* Without SA_RESTART: read() and waitpid() are to come back with EINTR. */
void job_set_signal(int sig, sighandler_t handler);
/* From the first to the last of these, signals come only in job_sleep(), which any of them ends, SIGCHLD too. */
void job_hold_signals(void);
void job_sleep(void);
void job_release_signals(void);

/* --- the terminal and what is left on it (terminal.c) --- */

/* Note the modes that are put back later. */
void terminal_init(void);
/* After the job of this text has ended with this status, or has been stopped, in the foreground. */
void terminal_restore(const char *text, int status);
/* read(2) for the shell's own input: O_NONBLOCK that somebody has left on fd and a foreground that somebody
 * has taken end nothing. */
ssize_t terminal_read(int fd, void *buf, size_t size);
/* Write all of it on the terminal; what cannot be written is lost. */
void terminal_write(const char *s, size_t n);

/* --- the console (lineedit.c, history.c, complete.c) --- */

/* Edit one line on a terminal. Returns malloc'ed text with its newline, or NULL at ^D; "\n" after ^C. */
char *lineedit_read(const char *prompt);
void history_add(const char *line);
/* Entry n (0 the oldest), or NULL. */
const char *history_get(size_t n);
size_t history_count(void);
/*
 * What can stand for the word that ends at line[at]. *length is how long the word is without its quoting, *quote the
 * quotation mark that is open in it, or 0. Returns a NULL-terminated malloc'ed list of malloc'ed names, sorted, without
 * quoting.
 */
char **complete_word(const char *line, size_t at, size_t *length, char *quote);
/* n bytes of a name, quoted for behind that mark (0: none), in new memory. */
char *complete_quoted(const char *name, size_t n, char quote);

/* --- the shell as a whole (main.c) --- */

enum skip { SKIP_NONE, SKIP_BREAK, SKIP_CONTINUE, SKIP_RETURN };

#define INTERRUPT_SHOWN 2

struct shell {
	bool interactive, job_control;
	bool opt_e, opt_x, opt_u, opt_f, opt_n, opt_v, opt_pipefail;
	int status;	       /* $? */
	int *trap_status;      /* what $? was before the trap that runs: `exit` alone means it; NULL: no trap runs */
	pid_t pid;	       /* $$: of the shell, also in its subshells */
	pid_t last_background; /* $!, 0: none */
	char *arg0;	       /* $0 */
	int argc;	       /* $#; argv[0] is $1 */
	char **argv;
	enum skip skip;			   /* unwinding to a loop or function */
	int skip_count;			   /* loops to leave */
	int loops, functions;		   /* depth of each */
	int substitutions;		   /* $(..) run so far: whether an assignment has a status of its own */
	int substituted;		   /* status of the last $(..) */
	int tested;			   /* > 0: a failure here is looked at, so -e does not apply */
	size_t option_at;		   /* getopts: where in the word $OPTIND its next option stands, or 0 */
	struct arena temp;		   /* what expansion makes, for one command */
	jmp_buf *top;			   /* where errors go back to, NULL: they exit */
	volatile sig_atomic_t interrupted; /* ^C has come while interactive; INTERRUPT_SHOWN: in a row of its own */
};

extern struct shell sh;

/* Report an error that ends the current command line (a script: the shell) with status 2. */
void sh_error(const char *format, ...) __attribute__((noreturn, format(__printf__, 1, 2)));
/* Give up the command line because of ^C. */
void sh_interrupt(void) __attribute__((noreturn));
/* What a function or a sourced file with arguments covers up while it runs; on the C stack of who runs it. */
struct frame {
	char **argv; /* $1 ... before */
	int argc, loops;
	bool own; /* it has parameters of its own, so argv comes back */
};

/*
 * Begin a function or sourced file, within which `return` works. args: its parameters, NULL-terminated and
 * kept by the caller, or NULL to keep those there are. An error (sh_error()) leaves all frames at once.
 */
void frame_enter(struct frame *f, char **args);
void frame_leave(const struct frame *f);
/* Set $1 ... from a NULL-terminated list, which is copied. */
void sh_set_params(char **args);

#endif
