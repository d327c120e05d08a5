/* Numbers in a trace.dat (trace-cmd.dat.v7(5)): userland/lib/trace/tracedat.c writes it, tools/vtrace-src/ reads it. */
#pragma once

/* Options of version 7, and sections, which have the number of the option that tells where they are. */
enum {
	OPT_DONE,
	OPT_CPUSTAT = 2,
	OPT_BUFFER = 3,
	OPT_TRACECLOCK = 4,
	OPT_UNAME = 5,
	OPT_CPUCOUNT = 8,
	OPT_VERSION = 9,
	OPT_TRACEID = 11,
	OPT_STRINGS = 15,
	OPT_HEADER_INFO = 16,
	OPT_FTRACE_EVENTS,
	OPT_EVENT_FORMATS,
	OPT_KALLSYMS,
	OPT_PRINTK,
	OPT_CMDLINES,
	OPT_BUFFER_TEXT,
	OPT_TGIDS = 0x7467, /* ours: text, "pid tgid" a line. Readers pass over what they do not know. */
};
