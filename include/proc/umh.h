/* Programs that the kernel starts by itself, like modprobe: "user mode helpers". */
#pragma once

/* How long call_usermodehelper() waits, Linux's values. */
#define UMH_NO_WAIT   0x00
#define UMH_WAIT_EXEC 0x01 /* until the program runs, or cannot be run */
#define UMH_WAIT_PROC 0x02 /* until it has ended */
#define UMH_KILLABLE  0x04 /* a signal that ends the caller ends its waiting; the program goes on */

/*
 * Run the program at `path` with these arguments and environment, both ended by NULL, as root, with / as its root and
 * working folder and no open file. They are copied. Its parent is a kernel thread, so the caller's process does not
 * learn of it. Thread context, may sleep.
 *
 * Returns -ENOMEM; -EINTR, with UMH_KILLABLE; for UMH_WAIT_EXEC 0 or what execve(2) says; for UMH_WAIT_PROC that, or
 * the status as wait(2) shows it, which is 0 for success; for UMH_NO_WAIT 0.
 */
int call_usermodehelper(const char *path, char **argv, char **envp, int wait);
