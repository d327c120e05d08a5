/* Control files: one struct beside the code that serves each, found through a linker table. Private to trace/. */
#pragma once

#include <fs/libfs.h>
#include <fs/seq_file.h>

struct trace_array;

/*
 * A control file: one struct beside the code that serves it, found through a linker table. inode->i_private is the
 * trace array and the CPU that the file is about, a struct trace_cpu_file.
 */
struct tracefs_file {
	const char *name;
	mode_t mode;
	const struct file_operations *fop;
	u8 where; /* TRACEFS_* */
};
#define TRACEFS_TOP	    1 /* only in the top directory */
#define TRACEFS_ARRAY	    2 /* in every trace array's directory */
#define TRACEFS_PER_CPU	    4 /* in every per_cpu/cpuN */
#define REGISTER_TRACEFS(f) REGISTER_IN(tracefs, f)
DECLARE_TABLE(tracefs, struct tracefs_file);
/* The array and the CPU a control file stands for (RING_BUFFER_ALL_CPUS_FILE in an array's own directory). */
struct trace_cpu_file {
	struct trace_array *tr;
	int cpu;
};
#define RING_BUFFER_ALL_CPUS_FILE (-1) /* in place of a CPU's number */
struct trace_array *tracefs_array(const struct file *file);
int tracefs_cpu(const struct file *file);

/*
 * The common kind of file: `show` makes its whole text, `store` takes a terminated text of at most TRACEFS_TEXT_MAX-1
 * bytes, white space at its end cut off. Either may be NULL. Both in thread context, no lock held.
 */
#define TRACEFS_TEXT_MAX 256
struct tracefs_text {
	struct file_operations fop; /* by it the functions below find the struct */
	int (*show)(struct seq_file *m, struct trace_array *tr, int cpu);
	int (*store)(struct trace_array *tr, int cpu, char *text);
};
int tracefs_text_open(struct inode *inode, struct file *file);
ssize_t tracefs_text_write(struct file *file, const char __user *buf, size_t n, loff_t *pos);
#define TRACEFS_TEXT_FILE(id, filename, filemode, places, show_fn, store_fn)                       \
	static const struct tracefs_text id##_text = {{.open = tracefs_text_open,                  \
						       .read = seq_read,                           \
						       .write = tracefs_text_write,                \
						       .llseek = seq_lseek,                        \
						       .release = single_release},                 \
						      show_fn,                                     \
						      store_fn};                                   \
	static const struct tracefs_file id##_file = {filename, filemode, &id##_text.fop, places}; \
	REGISTER_TRACEFS(id##_file)
