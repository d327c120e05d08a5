/* Numbers and structs of the records that core/entries.h defines. Include core/array.h, which includes this. */
#pragma once

#include <trace/trace_events.h>

#define USER_STACK_FRAMES 8
#define BRANCH_FUNC_LEN	  31 /* Linux's TRACE_FUNC_SIZE and TRACE_FILE_SIZE, and a zero */
#define BRANCH_FILE_LEN	  21
#define BOOT_FUNC_LEN	  227 /* KSYM_SYMBOL_LEN, as one number, because format files show it */

typedef phys_addr_t resource_size_t; /* Linux's name, which format files show */

#define F_STRUCT(...) __VA_ARGS__
#define F_PRINTK(...)

/* ---- Numbers */
#define FTRACE_ENTRY(name, struct_name, id, number, fields, print)	  id = number,
#define FTRACE_ENTRY_SAME(name, struct_name, id, number, fields, print)	  id = number,
#define FTRACE_ENTRY_PACKED(name, struct_name, id, number, fields, print) id = number,
enum trace_type {
#include "entries.h"
};
#undef FTRACE_ENTRY
#undef FTRACE_ENTRY_SAME
#undef FTRACE_ENTRY_PACKED

/* ---- Structs. _SAME: there is one already. _PACKED: words of 8 bytes may lie on 4, and nothing is behind the last. */
#define __field(type, item)	       type item;
#define __array(type, item, len)       type item[len];
#define __dynamic_array(type, item)    type item[];
#define __stack_array(type, item, len) type item[];
#define __hidden_array(type, item)     type item[];
#define FTRACE_ENTRY(name, struct_name, id, number, fields, print) \
	struct struct_name {                                       \
		struct trace_entry ent;                            \
		fields                                             \
	};
#define FTRACE_ENTRY_SAME(name, struct_name, id, number, fields, print)
#define FTRACE_ENTRY_PACKED(name, struct_name, id, number, fields, print) \
	struct struct_name {                                              \
		struct trace_entry ent;                                   \
		fields                                                    \
	} __attribute__((packed, aligned(4)));
#include "entries.h"
#undef FTRACE_ENTRY
#undef FTRACE_ENTRY_SAME
#undef FTRACE_ENTRY_PACKED
#undef __field
#undef __array
#undef __dynamic_array
#undef __stack_array
#undef __hidden_array
#undef F_STRUCT
#undef F_PRINTK
