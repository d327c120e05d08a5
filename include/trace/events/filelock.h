/*
 * Tracepoints of locks on files (kernel/fs/locks). Fields and texts are Linux's; in the text are Linux's numbers of
 * flags and types.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM filelock

#if !defined(_TRACE_FILELOCK_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_FILELOCK_H

#include <fs/libfs.h>
#include <fs/vfs.h>
#include <trace/tracepoint.h>

struct file_lock;

#define FL_POSIX  1
#define FL_FLOCK  2
#define FL_CLOSE  64   /* a file is closed, and its locks go */
#define FL_SLEEP  128  /* the caller waits for the lock */
#define FL_OFDLCK 1024 /* a record lock of an open file */

/* ret: 0 or -errno; 1: the request waits for another lock, and is tried and recorded again. */
DECLARE_EVENT_CLASS(filelock_lock,
	TP_PROTO(const struct file_lock *fl, unsigned int flags, int ret),
	TP_ARGS(fl, flags, ret),
	TP_STRUCT__entry(
		__field(const void *, fl)
		__field(unsigned long, i_ino)
		__field(dev_t, s_dev)
		__field(const void *, blocker)
		__field(const void *, owner)
		__field(unsigned int, pid)
		__field(unsigned int, flags)
		__field(unsigned char, type)
		__field(loff_t, fl_start)
		__field(loff_t, fl_end)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->fl = fl;
		__entry->i_ino = fl->file->f_inode->i_ino;
		__entry->s_dev = fl->file->f_inode->i_sb->s_dev;
		__entry->blocker = fl->blocker;
		__entry->owner = fl->owner;
		__entry->pid = current->tgid;
		__entry->flags = flags;
		__entry->type = fl->type;
		__entry->fl_start = fl->start;
		__entry->fl_end = fl->end;
		__entry->ret = ret;
	),
	TP_printk("fl=%p dev=0x%x:0x%x ino=0x%lx fl_blocker=%p fl_owner=%p fl_pid=%u fl_flags=%s fl_type=%s "
		"fl_start=%lld fl_end=%lld ret=%d",
		__entry->fl, (unsigned int)(__entry->s_dev >> 20), (unsigned int)(__entry->s_dev & 0xfffff),
		__entry->i_ino, __entry->blocker, __entry->owner, __entry->pid,
		__print_flags(__entry->flags, "|", { 1, "FL_POSIX" }, { 2, "FL_FLOCK" }, { 64, "FL_CLOSE" },
			      { 128, "FL_SLEEP" }, { 1024, "FL_OFDLCK" }),
		__print_symbolic(__entry->type, { 0, "F_RDLCK" }, { 1, "F_WRLCK" }, { 2, "F_UNLCK" }),
		(long long)__entry->fl_start, (long long)__entry->fl_end, __entry->ret)
);

/* Each try to set or remove a lock: by flock(2), by fcntl(2), or by a close. */
DEFINE_EVENT(filelock_lock, flock_lock_inode,
	TP_PROTO(const struct file_lock *fl, unsigned int flags, int ret), TP_ARGS(fl, flags, ret));
DEFINE_EVENT(filelock_lock, posix_lock_inode,
	TP_PROTO(const struct file_lock *fl, unsigned int flags, int ret), TP_ARGS(fl, flags, ret));
/* What fcntl(2) returns for F_SETLK and its like. */
DEFINE_EVENT(filelock_lock, fcntl_setlk,
	TP_PROTO(const struct file_lock *fl, unsigned int flags, int ret), TP_ARGS(fl, flags, ret));
/* A descriptor was closed, and with it all record locks of its owner are gone. */
DEFINE_EVENT(filelock_lock, locks_remove_posix,
	TP_PROTO(const struct file_lock *fl, unsigned int flags, int ret), TP_ARGS(fl, flags, ret));

#endif

#include <trace/define_trace.h>
