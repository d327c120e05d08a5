/* Event filters on the host: the kernel around them, and a record with a field of every kind. Include once. */
#pragma once

#include <host_test.h>
#include <errno.h>

/* Structures of the ABI that the host has as well. */
#define sigset_t  k_sigset_t
#define timespec  k_timespec
#define timeval	  k_timeval
#define itimerval k_itimerval
#include "../../../kernel/lib/glob.c"
#include "../../../kernel/lib/kstrto.c"
#include "../../../trace/events/filter.c"
#include "../../../trace/events/filter_cpus.c"
#include "../../../trace/events/filter_parse.c"
#include "../../../trace/events/filter_term.c"

struct task_struct host_task = {.comm = "task"};

/* A kernel of one function, and of programs whose memory is all there. */
unsigned long kallsyms_lookup_name(const char *name)
{
	return !strcmp(name, "vfs_open") ? 0x1000 : 0;
}
const char *kallsyms_lookup(unsigned long address, unsigned long *size, unsigned long *offset, char *name)
{
	if (address < 0x1000 || address >= 0x1040)
		return NULL;
	*size = 0x40;
	*offset = address - 0x1000;
	return strcpy(name, "vfs_open");
}
bool filter_user_text(char *to, size_t size, const char *from)
{
	return from && snprintf(to, size, "%s", from) >= 0;
}

/* Allocations that succeed from now on; negative: all. */
static long allocations_left = -1;
static long allocated;
void *kvzalloc(size_t size, gfp_t gfp)
{
	if (allocations_left == 0)
		return NULL;
	allocations_left -= allocations_left > 0;
	allocated++;
	return calloc(1, size);
}
void kvfree(const void *p)
{
	allocated -= p != NULL;
	free((void *)p);
}

/* A record with a field of every kind. */
struct record {
	struct trace_entry ent;
	s8 s1;
	u8 u1;
	s16 s2;
	u16 u2;
	s32 s4;
	u32 u4;
	s64 s8_;
	u64 u8_;
	char text[6]; /* when full, without a zero */
	int numbers[4];
	u32 loc;
	const char *ptr;
	u32 cpus_loc;
	u32 rloc;
	char data[8];
	u8 unaligned;
	u8 cpus[8];
};
#define FIELD(type, name, is_signed, how)                                                                      \
	{                                                                                                      \
		type, #name, offsetof(struct record, name), sizeof(((struct record *)0)->name), is_signed, how \
	}
static const struct trace_event_field fields[] = {
	FIELD("s8", s1, true, FILTER_OTHER),
	FIELD("u8", u1, false, FILTER_OTHER),
	FIELD("s16", s2, true, FILTER_OTHER),
	FIELD("u16", u2, false, FILTER_OTHER),
	FIELD("s32", s4, true, FILTER_OTHER),
	FIELD("u32", u4, false, FILTER_OTHER),
	FIELD("s64", s8_, true, FILTER_OTHER),
	FIELD("u64", u8_, false, FILTER_OTHER),
	FIELD("char[6]", text, false, FILTER_STATIC_STRING),
	FIELD("int[4]", numbers, true, FILTER_NONE),
	FIELD("__data_loc char[]", loc, false, FILTER_DYN_STRING),
	FIELD("__rel_loc char[]", rloc, false, FILTER_RDYN_STRING),
	FIELD("const char *", ptr, false, FILTER_PTR_STRING),
	FIELD("__data_loc cpumask_t", cpus_loc, false, FILTER_CPUMASK),
	{},
};

/* Its memory ends where it does. */
static struct event_filter *parse_exact(const char *text, struct filter_problem *problem)
{
	char *copy = strdup(text);
	struct event_filter *filter = filter_parse(fields, copy, problem);

	free(copy);
	return filter;
}
