/* As much of /proc as the scheduler needs to compile. The test finds the files by their names. */
#pragma once

#include <lib/string.h>
#include <lib/types.h>

struct seq_file;
struct text_file {
	const char *path;
	mode_t mode;
	int (*show)(struct seq_file *m, void *v);
	int (*store)(char *text, void *data);
};
#define REGISTER_PROC(e)   REGISTER_IN(host_proc, e)
#define seq_printf(m, ...) ((void)(m), (void)sizeof(printf(__VA_ARGS__)))
#define seq_putc(m, c)	   ((void)(m))
int printf(const char *fmt, ...);
