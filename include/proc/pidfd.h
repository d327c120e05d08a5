/* Processes as files (kernel/proc/pidfd.c). */
#pragma once

struct file;
struct signal_struct;

/* A file for the process that this belongs to, which may be a new one. flags: O_NONBLOCK. ERR_PTR. Thread context. */
struct file *pidfd_file(struct signal_struct *sig, unsigned flags);
/* The process that a file is about; NULL: it is another kind of file. The file keeps it. */
struct signal_struct *pidfd_signal(const struct file *f);
