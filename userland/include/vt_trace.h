/* What the programs around tracefs share: its files, trace.dat files, and the pages on their way from one to
 * the other. */
#ifndef VT_TRACE_H
#define VT_TRACE_H

#include <vt.h>

#define VT_TRACING    "/sys/kernel/tracing"
#define VT_TRACE_PAGE 4096 /* bytes of the smallest sub-buffer; each has a power of two of these */

/* --- files of tracefs (tracefs.c); `instance` is the name of one, or NULL for the buffer that is always
 * there --- */

/* The status with which an error below ends the program; 1 unless the program has set it. */
extern int vt_tracefs_fault;
/* The path of a file in new memory. */
char *vt_tracefs_path(const char *instance, const char *file);
/* What it holds in new memory, or NULL with errno. */
char *vt_tracefs_read(const char *instance, const char *file);
/* The same; a file that cannot be read ends the program. */
char *vt_tracefs_read_or_die(const char *instance, const char *file);
/* What a file holds, as it can be written again, in place: its lines of comment go. Returns `text`. */
char *vt_tracefs_settings(char *text);
/* Write one value or word; how: O_TRUNC or O_APPEND. Returns 0, or -1 with errno. */
int vt_tracefs_write(const char *instance, const char *file, const char *text, int how);
/*
 * The same, having noted what the file held before, for vt_tracefs_restore(). Says what is wrong and ends the
 * program; `what` names the value in that message ("no tracer").
 */
void vt_tracefs_set(const char *instance, const char *file, const char *text, int how, const char *what);
/* The same, but whether the kernel took it is the caller's to look at. */
bool vt_tracefs_try(const char *instance, const char *file, const char *text, int how);
/*
 * Add a line to a list from which one with '!' before it takes it away again, as the triggers of an event;
 * vt_tracefs_restore() does that. One of the same kind that is there is replaced, and not put back. Whether the kernel
 * took it is the caller's to look at.
 */
bool vt_tracefs_add(const char *instance, const char *file, const char *line);
/* Make an instance if there is none of that name; the end takes away what this has made. Unless make: one that
 * is not there ends the program. */
void vt_tracefs_instance(const char *instance, bool make);
/* Put back all that was set, the last first; says what could not be, and returns false then. Safe to call
 * again: there is nothing left to do. */
bool vt_tracefs_restore(void);
/* Leave all as it is set now: to put a tracer back would empty the buffers. */
void vt_tracefs_keep(void);
/* Bytes of a sub-buffer of an array: what trace_pipe_raw hands out. */
unsigned vt_tracefs_subbuf(const char *instance);
/* The same. Ends the program when it is not `other`, the size of another array that goes into the same file; 0:
 * there is none. */
unsigned vt_tracefs_same_subbuf(const char *instance, unsigned other);
/*
 * Make the array what it was after booting, but for trace options; mask: its CPUs (tracereset.c). What cannot be
 * reset ends the program with status 1.
 */
void vt_tracefs_reset(const char *instance, const char *mask);
/* How many CPUs the kernel has buffers for. */
int vt_tracefs_cpus(void);
/* End the program unless tracefs is mounted. */
void vt_tracefs_check(void);
/* End the program if somebody else has selected a tracer, which would lose its trace. */
void vt_tracefs_refuse_tracer(void);

/* --- one recording at a time (tracelock.c) --- */

/* Exit with this status while another trace-record or trace-fn has it; one that was killed has it no more. */
void vt_trace_lock(int status);
/* Give it back, if it is ours. */
void vt_trace_unlock(void);

/* --- bytes that grow (tracebytes.c) --- */

struct vt_bytes {
	char *data;
	size_t n, room;
};

void vt_put(struct vt_bytes *b, const void *data, size_t n);
/* Text as printf makes it, of any length, without an ending zero. */
void vt_bytes_printf(struct vt_bytes *out, const char *format, ...) __attribute__((format(__printf__, 2, 3)));
/* A number of so many bytes, the lowest first: that is this machine's order, and the file's. */
void vt_put_number(struct vt_bytes *b, unsigned long long value, size_t size);
/* A text with its ending zero. */
void vt_put_text(struct vt_bytes *b, const char *text);
/* A file's content behind its length in so many bytes. A file that is not there is an empty one; else exits
 * with status 1. */
void vt_put_file(struct vt_bytes *b, const char *path, size_t length_size);
/* The same for a file of tracefs, named below it. */
void vt_put_tracefs_file(struct vt_bytes *b, const char *name, size_t length_size);
/* The same for events/header_page, as it is with sub-buffers of so many bytes. */
void vt_put_header_page(struct vt_bytes *b, unsigned page);
/*
 * The symbols of the kernel and its modules, with those of modules that have gone, as functions in the trace may be
 * theirs. Replaces what is in b.
 */
void vt_put_symbols(struct vt_bytes *b);

/* --- pages kept aside until their number is known (tracespool.c) --- */

/* What one CPU recorded. Pages go into files of VT_SEGMENT bytes, or of one sub-buffer when that is larger. Each is
 * written full of zeros first: no page is taken from the kernel that has no place. */
#define VT_SEGMENT (32 * VT_TRACE_PAGE)

struct vt_spool {
	char *prefix; /* of the names of its files */
	int raw;      /* trace_pipe_raw, not blocking */
	int pipe[2];
	int fd;			/* of the newest segment, or -1 */
	unsigned long segments; /* how many files were made */
	unsigned long first;	/* the number of the oldest that is still there */
	unsigned long pages;	/* how many are in those that are there, of VT_TRACE_PAGE bytes */
	unsigned long max;	/* keep no more than so many pages, the newest (but one sub-buffer at least); 0: all */
	unsigned long unit;	/* how many of them a sub-buffer has */
};

/* Begin one for trace_pipe_raw of a CPU. Returns 0, or -1 with errno; vt_spool_close() is right after both. */
int vt_spool_open(struct vt_spool *s, const char *prefix, const char *instance, int cpu);
/* Take what is there; rest: also the page that the writer is on. Returns 0, or -1 with errno: then pages are
 * still there. */
int vt_spool_take(struct vt_spool *s, bool rest);
/* Let go of the kernel's buffer; the files stay, as long as their pages are. */
void vt_spool_stop(struct vt_spool *s);
/*
 * Write all pages to fd; unless keep: taking each segment away once it is written. Returns 0, or -1 with
 * errno: then, unless keep, fd ends where the first segment that is left begins.
 */
int vt_spool_give(struct vt_spool *s, int fd, bool keep);
/* Stop, and take the files away. */
void vt_spool_close(struct vt_spool *s);

/* --- trace.dat (tracedat.c) --- */

/* A buffer in the file: of pages, one spool a CPU; or (latency tracers) of text. */
struct vt_dat_buffer {
	const char *instance; /* NULL: the buffer that is always there, which comes first */
	struct vt_spool *cpus;
	char *text; /* or NULL */
};

/* What the beginning of the file says of this machine and its events: version is 6 or 7. */
struct vt_dat;

/* `page`: bytes of a sub-buffer in all buffers. */
struct vt_dat *vt_dat_new(int version, int nr_cpus, unsigned page);
/* How large all but the pages becomes, at most: what to have in store. */
size_t vt_dat_room(const struct vt_dat *d);
/* Take from tracefs what the file says of the recording: before settings are put back, once. */
void vt_dat_note(struct vt_dat *d, const struct vt_dat_buffer *buffers, size_t nr);
/* Write the whole file, from its beginning on and without seeking. keep: it can be written again. Returns 0,
 * or -1 with errno. */
int vt_dat_write(struct vt_dat *d, int fd, struct vt_dat_buffer *buffers, size_t nr, bool keep);

/* --- where the file goes (traceout.c) --- */

/* A regular file is written beside its name and renamed once it is whole. What cannot seek (a port, a pipe)
 * gets the file when it is whole; the same place, then in /tmp, is for when that fails. */
struct vt_out {
	const char *path; /* as it was asked for */
	char *dest;	  /* the same, links followed */
	char *part;	  /* the file beside; names of spools begin with it, too */
	int fd, part_fd;  /* fd: of what cannot seek, or -1 */
	unsigned mode;	  /* of the file that exists; a new one gets what the umask leaves */
	bool regular, exists;
};

/* Look at the output, harming nothing. May wait, for a pipe's reader. What is wrong ends the program. */
void vt_out_open(struct vt_out *o, const char *path);
/* Make the file beside with n bytes of room, so that a full disk is known before anything is taken from the
 * buffers. A full disk ends the program. */
void vt_out_reserve(struct vt_out *o, size_t n);
/* Before it is written: so much more room. Returns 0, or -1 with errno. */
int vt_out_more(struct vt_out *o, size_t n);
/* The file beside is whole: give it the name `to`. Returns 0, or -1 with errno. */
int vt_out_rename(struct vt_out *o, const char *to);
/* The path of a port of virtio-serial, by the name that the host has given it. No such port ends the program. */
const char *vt_out_port(const char *name);
/* Take the file beside away, if it is there. */
void vt_out_drop(struct vt_out *o);

/* --- what trace-record and trace-cmd were asked for (tracewish.c) --- */

struct vt_array {
	const char *name; /* NULL: the buffer that is always there */
	const char *tracer;
	bool events; /* some were asked for */
	bool used;   /* something was; else it is left alone */
	struct vt_dat_buffer buffer;
};

/*
 * An option (its letter, of trace-record) for that buffer. One that is wrong by itself, or has no -e before it that it
 * is about, ends the program.
 */
void vt_wish_add(struct vt_array *a, int letter, const char *text);
size_t vt_wish_count(void);

/* How to set it: */
#define VT_WISH_CHILDREN 1 /* of chosen tasks their children as well */
#define VT_WISH_RECORDER 2 /* this program takes pages meanwhile, and is left out of function traces */
#define VT_WISH_ADD	 4 /* what is set and recorded already stays */
/* Tracers of latencies do not record functions; without it they do, unless it is VT_WISH_ADD. */
#define VT_WISH_NO_FUNCTIONS 8

/* Set all that was asked for, and empty the buffer; only: of this process (0: of all, or of those that `t`
 * named). All but the start. What is wrong ends the program. */
void vt_wish_prepare(const struct vt_array *a, long only, int how);

#endif
