/* Control files that hold a set of functions, such as set_ftrace_filter: function_files.c. */
#pragma once

#include "tracefs/refused.h"
#include "tracefs/tracefs.h"

struct ftrace_ops;
struct graph_filter;

/*
 * Opens such a file. `ops` or `graph` says whose set, and `exclude` which of its two. A file that is opened for reading
 * is a seq_file, whose private pointer then leads to the writer. The next two belong to such a file. 0 or -errno.
 */
int ftrace_filter_open(struct file *file, struct ftrace_ops *ops, bool exclude, struct graph_filter *graph);
ssize_t ftrace_filter_write(struct file *file, const char __user *buf, size_t n, loff_t *pos);
int ftrace_filter_release(struct inode *inode, struct file *file);

/* A file that holds one of the two sets of an ftrace_ops, or the set of a graph filter: see ftrace_filter_open(). */
#define FILTER_FILE(id, places, ops, exclude, graph)                  \
	static int id##_open(struct inode *inode, struct file *file)  \
	{                                                             \
		return ftrace_filter_open(file, ops, exclude, graph); \
	}                                                             \
	static const struct file_operations id##_fops = {             \
		.open = id##_open,                                    \
		.read = seq_read,                                     \
		.write = ftrace_filter_write,                         \
		.llseek = default_llseek,                             \
		.release = ftrace_filter_release,                     \
	};                                                            \
	TRACEFS_FILE(id, #id, 0640, places, &id##_fops)
