/* Control files: one struct beside the code that serves each, found through a linker table. Private to trace/. */
#pragma once

#include <fs/libfs.h>
#include <fs/seq_file.h>

struct trace_array;

/*
 * A control file: a text file and the directories that have it. Its path may lead through directories of its own
 * ("osnoise/cpus"). One struct beside the code that serves it, found through a linker table. inode->i_private is the
 * trace array and the CPU that the file is about, a struct trace_cpu_file.
 */
struct tracefs_file {
	struct text_file file;
	u8 where; /* TRACEFS_* */
};
#define TRACEFS_TOP	1 /* only in the top directory */
#define TRACEFS_ARRAY	2 /* in every trace array's directory */
#define TRACEFS_PER_CPU 4 /* in every per_cpu/cpuN */
DECLARE_TABLE(tracefs, struct tracefs_file);
#define REGISTER_TRACEFS(id, places, ...)                                   \
	static const struct tracefs_file id##_file = {__VA_ARGS__, places}; \
	REGISTER_IN(tracefs, id##_file)

/*
 * The common kind of file: `show` makes its whole text, `store` takes a terminated text of less than TRACEFS_TEXT_MAX
 * bytes. Either may be NULL. Their data is a struct trace_cpu_file. Both in thread context, no lock held.
 */
#define TRACEFS_TEXT_MAX 256
extern const struct text_kind tracefs_text;
#define TRACEFS_TEXT_FILE(id, filename, filemode, places, show_fn, store_fn) \
	REGISTER_TRACEFS(                                                    \
		id, places,                                                  \
		{.path = filename, .mode = filemode, .show = show_fn, .store = store_fn, .kind = &tracefs_text})
/* One that takes a number: the text is that and at most a newline, as in Linux. */
#define TRACEFS_NUMBER_FILE(id, filename, filemode, places, show_fn, store_fn) \
	REGISTER_TRACEFS(id, places,                                           \
			 {.path = filename,                                    \
			  .mode = filemode,                                    \
			  .show = show_fn,                                     \
			  .store = store_fn,                                   \
			  .exact = true,                                       \
			  .kind = &tracefs_text})
/* A file whose `store` gives reasons (store_why). */
#define TRACEFS_REASON_FILE(id, filename, filemode, places, show_fn, store_fn) \
	REGISTER_TRACEFS(                                                      \
		id, places,                                                    \
		{.path = filename, .mode = filemode, .show = show_fn, .store_why = store_fn, .kind = &tracefs_text})
/* A file with its own operations. */
#define TRACEFS_FILE(id, filename, filemode, places, fops) \
	REGISTER_TRACEFS(id, places, {.path = filename, .mode = filemode, .fop = fops})

/* The array and the CPU a control file stands for (RING_BUFFER_ALL_CPUS_FILE in an array's own directory). */
struct trace_cpu_file {
	struct trace_array *tr;
	int cpu;
};
#define RING_BUFFER_ALL_CPUS_FILE (-1) /* in place of a CPU's number */

/* The array and the CPU of the data that show and store get, or of an open file. Any context. */
static inline struct trace_array *trace_file_array(const void *data)
{
	return ((const struct trace_cpu_file *)data)->tr;
}
static inline int trace_file_cpu(const void *data)
{
	return ((const struct trace_cpu_file *)data)->cpu;
}
struct trace_array *tracefs_array(const struct file *file);
int tracefs_cpu(const struct file *file);
