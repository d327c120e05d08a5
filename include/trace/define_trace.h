/*
 * An event header reads itself again and again, each time with another meaning of TRACE_EVENT: it ends with
 *
 *     #endif // of its guard: #if !defined(_TRACE_SCHED_H) || defined(TRACE_HEADER_MULTI_READ)
 *     #include <trace/define_trace.h>
 *
 * and one .c file defines CREATE_TRACE_POINTS before including it. The header is trace/events/TRACE_SYSTEM.h, or
 * TRACE_INCLUDE_FILE in place of the last; TRACE_INCLUDE_PATH is another folder, seen from one of the compiler's -I.
 * docs/events.md shows what each pass makes of one event.
 */
#ifdef CREATE_TRACE_POINTS
#undef CREATE_TRACE_POINTS

#include <arch/stacktrace.h>
#include <fs/seq_file.h>
#include <kernel/module.h>
#include <lib/string.h>
#include <trace/trace_event_probe.h>

#ifndef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE TRACE_SYSTEM
#define TRACE_INCLUDE_FILE_IS_SYSTEM
#endif
/* Blanks in it would be part of the name. */
/* clang-format off */
#ifdef TRACE_INCLUDE_PATH
#define TRACE_EVENT_HEADER_2(path, file) __stringify(path/file.h)
#define TRACE_EVENT_HEADER(path, file) TRACE_EVENT_HEADER_2(path, file)
#define TRACE_EVENT_HEADER_1(file) TRACE_EVENT_HEADER(TRACE_INCLUDE_PATH, file)
#else
#define TRACE_EVENT_HEADER(file) __stringify(trace/events/file.h)
#define TRACE_EVENT_HEADER_1(file) TRACE_EVENT_HEADER(file)
#endif
/* clang-format on */

/* What a header means when it is read for the first time comes back at the end. */
#pragma push_macro("DECLARE_TRACE")
#pragma push_macro("DECLARE_TRACE_CONDITION")
#pragma push_macro("TRACE_DEFINE_ENUM")
#pragma push_macro("TRACE_DEFINE_SIZEOF")
#pragma push_macro("DECLARE_EVENT_CLASS")
#pragma push_macro("DEFINE_EVENT")
#pragma push_macro("DEFINE_EVENT_FN")
#pragma push_macro("DEFINE_EVENT_PRINT")
#pragma push_macro("DEFINE_EVENT_CONDITION")
#pragma push_macro("TRACE_EVENT")
#pragma push_macro("TRACE_EVENT_CONDITION")
#pragma push_macro("TRACE_EVENT_FN")

#define TRACE_HEADER_MULTI_READ
#define TP_STRUCT__entry(...) __VA_ARGS__
#define TP_fast_assign(...)   __VA_ARGS__
#define TP_printk(...)

#include <trace/stages/1_points.h>
#include TRACE_EVENT_HEADER_1(TRACE_INCLUDE_FILE)
#include <trace/stages/2_record.h>
#include TRACE_EVENT_HEADER_1(TRACE_INCLUDE_FILE)
#include <trace/stages/3_offsets.h>
#include TRACE_EVENT_HEADER_1(TRACE_INCLUDE_FILE)
#include <trace/stages/4_fields.h>
#include TRACE_EVENT_HEADER_1(TRACE_INCLUDE_FILE)
#include <trace/stages/5_size.h>
#include TRACE_EVENT_HEADER_1(TRACE_INCLUDE_FILE)
#include <trace/stages/6_probe.h>
#include TRACE_EVENT_HEADER_1(TRACE_INCLUDE_FILE)
#include <trace/stages/7_print.h>
#include TRACE_EVENT_HEADER_1(TRACE_INCLUDE_FILE)
#include <trace/stages/8_call.h>
#include TRACE_EVENT_HEADER_1(TRACE_INCLUDE_FILE)

#include <trace/stages/no_fields.h>
#undef __entry
#undef __assign_str
#undef __assign_bitmask
#undef __assign_cpumask
#undef TRACE_FIELD
#undef TRACE_FIELD_FILTER
#undef TRACE_ARRAY_FILTER
#undef TRACE_EVENT_OUTPUT
#undef TRACE_EVENT_CALL
#undef TRACE_EVAL_MAP
#undef TP_STRUCT__entry
#undef TP_fast_assign
#undef TP_printk
#undef TRACE_HEADER_MULTI_READ
#undef TRACE_EVENT_HEADER
#undef TRACE_EVENT_HEADER_1
#undef TRACE_EVENT_HEADER_2
#ifdef TRACE_INCLUDE_FILE_IS_SYSTEM
#undef TRACE_INCLUDE_FILE
#undef TRACE_INCLUDE_FILE_IS_SYSTEM
#endif
#pragma pop_macro("DECLARE_TRACE")
#pragma pop_macro("DECLARE_TRACE_CONDITION")
#pragma pop_macro("TRACE_DEFINE_ENUM")
#pragma pop_macro("TRACE_DEFINE_SIZEOF")
#pragma pop_macro("DECLARE_EVENT_CLASS")
#pragma pop_macro("DEFINE_EVENT")
#pragma pop_macro("DEFINE_EVENT_FN")
#pragma pop_macro("DEFINE_EVENT_PRINT")
#pragma pop_macro("DEFINE_EVENT_CONDITION")
#pragma pop_macro("TRACE_EVENT")
#pragma pop_macro("TRACE_EVENT_CONDITION")
#pragma pop_macro("TRACE_EVENT_FN")
#endif
