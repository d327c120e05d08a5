/*
 * Tracepoints of pipes and fifos: what reads and writes move. Linux has none.
 * Try: echo | read x
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pipe

#if !defined(_TRACE_PIPE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_PIPE_H

#include <fs/vfs.h>
#include <trace/tracepoint.h>

/*
 * Bytes have gone through one end: all of a read, or one piece of a write, which goes in pieces when there is no room
 * for all of it. depth: what the pipe holds then. The pipe is locked, so its records are in the order in which it
 * changed: each depth is the one before it and the bytes. An error, or the end of the file, moves nothing and is no
 * event.
 */
DECLARE_EVENT_CLASS(pipe,
	TP_PROTO(const struct file *f, ssize_t bytes, size_t depth),
	TP_ARGS(f, bytes, depth),
	TP_STRUCT__entry(
		__field(unsigned long, ino)
		__field(unsigned int, bytes)
		__field(unsigned int, depth)
	),
	TP_fast_assign(
		__entry->ino = f->f_inode->i_ino;
		__entry->bytes = bytes;
		__entry->depth = depth;
	),
	TP_printk("ino=%lu bytes=%u depth=%u", __entry->ino, __entry->bytes, __entry->depth)
);

DEFINE_EVENT_CONDITION(pipe, pipe_read,
	TP_PROTO(const struct file *f, ssize_t bytes, size_t depth),
	TP_ARGS(f, bytes, depth),
	TP_CONDITION(bytes > 0)
);
DEFINE_EVENT_CONDITION(pipe, pipe_write,
	TP_PROTO(const struct file *f, ssize_t bytes, size_t depth),
	TP_ARGS(f, bytes, depth),
	TP_CONDITION(bytes > 0)
);

#endif

#include <trace/define_trace.h>
