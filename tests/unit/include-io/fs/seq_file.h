/* Text that a driver shows; the function is the test's own. */
#pragma once

#include <lib/types.h>

struct seq_file;
void seq_printf(struct seq_file *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
