/* As much of /proc as a driver needs to compile: its file is not looked at. */
#pragma once

#include <lib/types.h>

struct seq_file;
struct text_file {
	const char *path;
	mode_t mode;
	int (*show)(struct seq_file *m, void *v);
};
#define REGISTER_PROC(e)   static const struct text_file *const proc_##e __attribute__((unused)) = &(e)
#define seq_printf(m, ...) ((m) ? printf(__VA_ARGS__) : 0)
