/* Signals that tell of an open file: O_ASYNC, and who gets them (kernel/fs/fasync.c). Thread context, all of it. */
#pragma once

struct file;

/* F_SETOWN and F_GETOWN: a process, or with a minus its group; 0: nobody. 0, -EINVAL, -ESRCH, -ENOMEM; the owner. */
int f_setown(struct file *f, int who);
int f_getown(const struct file *f);
/* The commands of fcntl(2) about it. -EINVAL: it is another command. */
long fcntl_owner(struct file *f, unsigned cmd, unsigned long arg);
/* Switch O_ASYNC: signals name the descriptor `fd`. 0, also where it is so already; -ENOTTY: the file sends none. */
int file_set_async(unsigned fd, struct file *f, bool on);
/* The last reference to the file is gone, and it has f_fown. */
void fown_release(struct file *f);
