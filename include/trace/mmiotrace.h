/* What the head of mmiotrace's text says of the machine: the devices of a bus that has addresses of its own. */
#pragma once

#include <fs/seq_file.h>

struct mmiotrace_bus {
	/* The line of the n-th device; false: there are fewer. Thread context. */
	bool (*show)(struct seq_file *s, unsigned n);
};
#define REGISTER_MMIOTRACE_BUS(b) REGISTER_IN(mmiotrace_buses, b)
