/* What the files of procfs share. */
#pragma once

#include "../fs/internal.h"

#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <proc/fork.h>

/*
 * What an inode below /proc/<pid> stands for. It holds no task: it names one, by pid and start time, so a
 * reaped process is gone from memory even if its directory is still open.
 */
struct proc_node {
	pid_t pid;
	u64 start_time;			    /* a later task of the same pid is another one */
	const struct proc_pid_entry *entry; /* files and links of the table */
	unsigned fd;			    /* entries of fd/ */
	unsigned long vm_start, vm_end;	    /* entries of map_files/ */
};
static inline struct proc_node *proc_node(const struct inode *inode)
{
	return inode->i_private;
}
/* The task with a reference, or NULL: it is gone. */
struct task_struct *proc_task(const struct inode *inode);
/* A dynamic inode for `task` (its owner, its times); NULL when out of memory. */
struct inode *proc_task_inode(struct super_block *sb, struct task_struct *task, mode_t mode);
/* Finish a look-up: name found. Such dentries are not kept once they are unused. */
int proc_attach(struct dentry *dentry, struct inode *inode);
void proc_evict_node(struct inode *inode);
/* kernel/procfs/generic.c: a mount more, which gets the files of modules, 0 or -errno; and one less, in two steps. */
int proc_add_super(struct super_block *sb);
void proc_begin_put(struct super_block *sb);
void proc_put_super(struct super_block *sb);
/* sysctl.c: give /proc/sys of a new tree its rules. */
void proc_sys_finish(struct dentry *root);
/*
 * pid.c: the rules for files and directories of a process. Their mode is the kernel's; their owner can be set, and is
 * the task's again with the next look-up.
 */
int proc_setattr(struct dentry *dentry, const struct iattr *attr); /* [i_lock] */
/* fd.c. The threads of the process itself may look into directories that are for its user alone. Any context. */
int proc_fd_permission(const struct inode *inode, int mask);
bool proc_number(const struct dentry *dentry, unsigned *v); /* is the name a plain decimal number? */
int proc_pid_lookup(struct inode *dir, struct dentry *dentry, struct task_struct *task); /* /proc/<pid> itself */
int proc_tid_lookup(struct inode *dir, struct dentry *dentry, struct task_struct *task); /* /proc/<pid>/task/<tid> */

bool proc_of_thread(const struct seq_file *m); /* is the file one of task/<tid>, and so of that thread alone? */
extern const struct dentry_operations proc_pid_dentry_ops;
extern const struct inode_operations proc_pid_dir_iops, proc_tid_dir_iops;
