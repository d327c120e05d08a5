/* What the files of sockets in general share. */
#pragma once

#include <fs/vfs.h>
#include <net/sock.h>

/* sock_file.c. A file for a socket, which belongs to it from now on; after an error it is released. ERR_PTR. */
struct file *sock_file(struct sock *sk, unsigned flags);
/* The file of a descriptor, with a reference. ERR_PTR(-EBADF, -ENOTSOCK). */
struct file *sock_get(int fd);
/* Flags of a message, with what the file says about waiting. */
unsigned sock_io_flags(const struct file *f, unsigned flags);
/* One message. Its address and its control messages are there already, or not wanted. Bytes or -errno. */
ssize_t sock_send(struct file *f, struct sock_io *io);
ssize_t sock_receive(struct file *f, struct sock_io *io);
size_t vec_len(const struct iovec *vec, unsigned long n); /* bytes of all parts */

/* sock_memory.c. A new socket counts for the current task's user. 0 or -ENOMEM. Thread context. */
int sock_begin_memory(struct sock *sk, unsigned size);

/* socket.c. An address from the program; what is behind `len` is zero. 0, -EINVAL, -EFAULT. */
int addr_from_user(struct sockaddr_storage *to, const void __user *from, int len);
/* To the program, cut to the room that it says, and the whole length into its place. 0, -EINVAL, -EFAULT. */
int addr_to_user(const struct sockaddr_storage *from, int len, void __user *to, int __user *ulen);
