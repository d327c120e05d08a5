/*
 * System calls that send and receive: sendto, recvfrom, sendmsg, recvmsg. They copy what stands around the bytes
 * (addresses, control messages, the vector of buffers) from and to the program; the family moves the bytes.
 */
#include "socket.h"

#include <asm/uaccess.h>
#include <lib/errno.h>
#include <mm/slab.h>
#include <proc/syscall.h>

struct msghdr; /* as the calls are declared; user_msghdr says what it is */
struct sockaddr;

/*
 * One buffer, no control messages: scm_send() fills in who sends, and cannot fail then. A length of an address without
 * an address is not looked at.
 */
SYSCALL_DEFINE6(sendto, int, fd, void __user *, buff, size_t, len, unsigned int, flags, struct sockaddr __user *, addr,
		int, addr_len)
{
	size_t left = min(len, MAX_RW_COUNT);
	struct iovec vec = {buff, left};
	struct sock_io io = {.vec = &vec, .left = left, .flags = flags};
	struct file *f = sock_get(fd);
	ssize_t res = 0;

	if (IS_ERR(f))
		return PTR_ERR(f);
	if (addr) {
		io.named = true;
		io.addr_len = addr_len;
		res = addr_from_user(&io.addr, addr, addr_len);
	}
	if (!res) {
		scm_send(&io.scm, NULL, 0);
		res = sock_send(f, &io);
	}
	fput(f);
	return res;
}

/*
 * Files that came with the bytes are closed, since the call has no place for them. When the address cannot be written,
 * what was received is lost; as on Linux.
 */
SYSCALL_DEFINE6(recvfrom, int, fd, void __user *, ubuf, size_t, size, unsigned int, flags, struct sockaddr __user *,
		addr, int __user *, addr_len)
{
	size_t left = min(size, MAX_RW_COUNT);
	struct iovec vec = {ubuf, left};
	struct sock_io io = {.vec = &vec, .left = left, .flags = flags};
	struct file *f = sock_get(fd);
	ssize_t res;
	int err = 0;

	if (IS_ERR(f))
		return PTR_ERR(f);
	res = sock_receive(f, &io);
	scm_put_files(io.scm.files);
	fput(f);
	if (res >= 0 && addr)
		err = addr_to_user(&io.addr, io.addr_len, addr, addr_len);
	return err ? err : res;
}

/* The program's header and its buffers; *vec is freed by the caller if it is not `fast`. 0 or -errno. */
static int msg_from_user(struct user_msghdr *h, const struct msghdr __user *umsg, struct sock_io *io,
			 struct iovec *fast, struct iovec **vec)
{
	int err;

	*vec = fast;
	if (copy_from_user(h, umsg, sizeof(*h)))
		return -EFAULT;
	if (h->msg_name && h->msg_namelen < 0)
		return -EINVAL;
	if (h->msg_iovlen > UIO_MAXIOV)
		return -EMSGSIZE;
	err = import_iovec(h->msg_iov, h->msg_iovlen, fast, vec);
	io->vec = *vec;
	io->left = err ? 0 : vec_len(*vec, h->msg_iovlen);
	return err;
}

/*
 * Everything is copied from the program before the family is called, which therefore sees a whole message or none. A
 * name that is too long is cut. scm_send() holds nothing after an error, and sock_send() takes the files over.
 */
SYSCALL_DEFINE3(sendmsg, int, fd, struct msghdr __user *, msg, unsigned int, flags)
{
	struct iovec fast[UIO_FASTIOV], *vec = fast;
	struct sock_io io = {.flags = flags};
	struct file *f = sock_get(fd);
	struct user_msghdr h;
	ssize_t res;

	if (IS_ERR(f))
		return PTR_ERR(f);
	res = msg_from_user(&h, msg, &io, fast, &vec);
	if (!res && h.msg_name && h.msg_namelen) {
		io.addr_len = min(h.msg_namelen, (int)sizeof(io.addr));
		res = addr_from_user(&io.addr, h.msg_name, io.addr_len);
	}
	if (!res)
		res = scm_send(&io.scm, h.msg_control, h.msg_controllen);
	if (!res)
		res = sock_send(f, &io);
	if (vec != fast)
		kfree(vec);
	fput(f);
	return res;
}

/* What was received beside the bytes goes into the program's header. 0 or -EFAULT. */
static int msg_to_user(struct sock *sk, struct user_msghdr *h, struct msghdr __user *umsg, struct sock_io *io)
{
	struct user_msghdr __user *to = (struct user_msghdr __user *)umsg;
	size_t len = h->msg_control ? h->msg_controllen : 0;

	scm_receive(&io->scm, READ_ONCE(sk->passcred) && !io->ended, h->msg_control, &len, io);
	if (h->msg_name && (copy_to_user(h->msg_name, &io->addr, min(h->msg_namelen, io->addr_len)) ||
			    put_user(io->addr_len, &to->msg_namelen)))
		return -EFAULT;
	if (put_user(io->out_flags | (io->flags & MSG_CMSG_CLOEXEC), &to->msg_flags) ||
	    put_user(len, &to->msg_controllen))
		return -EFAULT;
	return 0;
}

/*
 * What goes beside the bytes is written last, after the message has been taken from the queue. When that fails, the
 * bytes are lost and the files are closed; as on Linux.
 */
SYSCALL_DEFINE3(recvmsg, int, fd, struct msghdr __user *, msg, unsigned int, flags)
{
	struct iovec fast[UIO_FASTIOV], *vec = fast;
	struct sock_io io = {.flags = flags};
	struct file *f = sock_get(fd);
	struct user_msghdr h;
	ssize_t res;
	int err;

	if (IS_ERR(f))
		return PTR_ERR(f);
	res = msg_from_user(&h, msg, &io, fast, &vec);
	if (!res)
		res = sock_receive(f, &io);
	if (res >= 0) {
		err = msg_to_user(f->private_data, &h, msg, &io);
		if (err)
			res = err;
	}
	scm_put_files(io.scm.files);
	if (vec != fast)
		kfree(vec);
	fput(f);
	return res;
}
