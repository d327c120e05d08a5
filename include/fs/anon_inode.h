/* Files that are no more than an object of the kernel's: eventfd, timerfd, epoll, signalfd, pidfd. */
#pragma once

struct file;
struct file_operations;

/*
 * A descriptor for a new file without a name in the tree, which /proc/PID/fd shows as "anon_inode:" and `name` (under
 * 32 bytes). flags: O_RDWR or O_RDONLY, O_CLOEXEC, O_NONBLOCK. `private_data` is the file's from now on, and its
 * release() frees it; after an error it is still the caller's. -EMFILE, -ENFILE, -ENOMEM. Thread context.
 */
int anon_inode_fd(const char *name, const struct file_operations *fops, void *private_data, unsigned flags);
/* The same in two steps: a file, or ERR_PTR, which a caller may give a descriptor when nothing can fail any more. */
struct file *anon_inode_file(const char *name, const struct file_operations *fops, void *private_data, unsigned flags);
/*
 * For a file's mmap(): a file that stands for the mapping. It has operations of its own, and the name of `of`, for
 * /proc/PID/maps. Its release() is called with mmap_lock held. ERR_PTR: -ENFILE, -ENOMEM. Thread context.
 */
struct file *file_of_mapping(const struct file *of, const struct file_operations *fops, void *private_data);
