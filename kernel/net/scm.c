/*
 * Control messages: what sendmsg(2) passes beside bytes. SCM_RIGHTS passes open files, SCM_CREDENTIALS says who sends.
 *
 * The files are held from the call that sends them until a descriptor has them, or until the message goes. Those that
 * are on their way count for the user who has sent them, up to RLIMIT_NOFILE, since no table of descriptors counts
 * them.
 */
#include <asm/uaccess.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <net/sock.h>
#include <proc/capability.h>
#include <proc/cred.h>
#include <proc/fork.h>
#include <proc/resource.h>
#include <uapi/fcntl.h>
#include <uapi/in.h>

#define CONTROL_MAX 20480 /* bytes of control messages that one call may pass, as Linux's net.core.optmem_max was */

struct ucred current_cred_ids(void)
{
	return (struct ucred){current->tgid, current->euid, current->egid};
}

void scm_put_files(struct scm_files *files)
{
	if (!files)
		return;
	for (unsigned i = 0; i < files->nr; i++)
		fput(files->file[i]);
	atomic_sub(files->nr, &files->user->sent_files);
	put_user_struct(files->user);
	kfree(files);
}

/* One file more. 0, -EBADF, or -ETOOMANYREFS: the user has too many on their way. */
static int add_file(struct scm_files *files, int fd)
{
	struct file *f = fd < 0 ? NULL : fget(fd);

	if (!f)
		return -EBADF;
	files->file[files->nr++] = f;
	if ((u64)atomic_add_return(1, &files->user->sent_files) > rlimit(RLIMIT_NOFILE) && !capable(CAP_SYS_RESOURCE) &&
	    !capable(CAP_SYS_ADMIN))
		return -ETOOMANYREFS;
	return 0;
}

/*
 * One message may hold SCM_RIGHTS several times, up to SCM_MAX_FD files together. What was taken before an error stays
 * in `scm`; scm_send() gives it back. 0 or -errno.
 */
static int take_rights(struct scm *scm, const int *fds, size_t bytes)
{
	struct scm_files *files = scm->files;
	size_t n = bytes / sizeof(int);
	int err = 0;

	if (n > SCM_MAX_FD - (files ? files->nr : 0))
		return -EINVAL;
	if (!n)
		return 0; /* such a message holds no files, and so does not end a read of a stream */
	if (!files) {
		files = kzalloc(sizeof(*files), GFP_KERNEL);
		if (!files)
			return -ENOMEM;
		files->user = get_task_user(current);
		scm->files = files;
	}
	for (size_t i = 0; i < n && !err; i++)
		err = add_file(files, fds[i]);
	return err;
}

/*
 * What a program may claim to be: itself, with one of its ids; for another process that exists, user or group it needs
 * CAP_SYS_ADMIN, CAP_SETUID or CAP_SETGID.
 */
static int take_credentials(struct scm *scm, const struct ucred *cred)
{
	const struct task_struct *t = current;
	struct task_struct *p;

	if ((cred->pid != t->tgid && !capable(CAP_SYS_ADMIN)) ||
	    (cred->uid != t->uid && cred->uid != t->euid && cred->uid != t->suid && !capable(CAP_SETUID)) ||
	    (cred->gid != t->gid && cred->gid != t->egid && cred->gid != t->sgid && !capable(CAP_SETGID)))
		return -EPERM;
	p = find_get_task(cred->pid);
	if (!p)
		return -ESRCH;
	put_task_struct(p);
	scm->cred = *cred;
	return 0;
}

/* How a packet of IP is to be sent: ip(7). Other families pay no attention to it. */
static void take_ip(struct scm *scm, const struct cmsghdr *c, size_t bytes)
{
	const struct in_pktinfo *info = (const struct in_pktinfo *)(c + 1);
	const int *ttl = (const int *)(c + 1);

	if (c->cmsg_type == IP_PKTINFO && bytes == sizeof(*info)) {
		scm->source = info->ipi_spec_dst;
		if ((unsigned)info->ipi_ifindex > 1) /* 0: any, 1: lo */
			scm->error = -ENODEV;
	} else if (c->cmsg_type == IP_TTL && bytes == sizeof(*ttl) && *ttl >= 1 && *ttl <= 255) {
		scm->ttl = *ttl;
	} else {
		scm->error = -EINVAL;
	}
}

/* All messages of the buffer; those of other levels are not ours. 0 or -errno. */
static int parse_control(struct scm *scm, const char *buf, size_t len)
{
	size_t at = 0, bytes;
	int err = 0;

	while (!err && len - at >= sizeof(struct cmsghdr)) {
		const struct cmsghdr *c = (const struct cmsghdr *)(buf + at);

		if (c->cmsg_len < sizeof(*c) || c->cmsg_len > len - at)
			return -EINVAL;
		bytes = c->cmsg_len - sizeof(*c);
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			err = take_rights(scm, (const int *)(c + 1), bytes);
		else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
			err = bytes == sizeof(struct ucred) ? take_credentials(scm, (const struct ucred *)(c + 1))
							    : -EINVAL;
		else if (c->cmsg_level == SOL_SOCKET)
			err = -EINVAL;
		else if (c->cmsg_level == SOL_IP)
			take_ip(scm, c, bytes);
		at = min(at + ALIGN(c->cmsg_len, 8), len);
	}
	return err;
}

/*
 * The control messages are copied before they are looked at: a program that writes to them meanwhile cannot change what
 * was checked.
 */
int scm_send(struct scm *scm, const void __user *control, size_t len)
{
	char *buf;
	int err;

	scm->cred = (struct ucred){current->tgid, current->uid, current->gid};
	if (!len)
		return 0;
	if (len > CONTROL_MAX)
		return -ENOBUFS;
	buf = kmalloc(len, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	err = copy_from_user(buf, control, len) ? -EFAULT : parse_control(scm, buf, len);
	kfree(buf);
	if (!err)
		return 0;
	scm_put_files(scm->files);
	scm->files = NULL;
	return err;
}

/* The control buffer of a receiver, as it is filled. */
struct control {
	char __user *at;
	size_t left;
	struct sock_io *io;
};

/* A message with `bytes` of data that are written already, behind its head; none where that cannot be written. */
static void put_head(struct control *c, int level, int type, size_t bytes)
{
	struct cmsghdr head = {sizeof(head) + bytes, level, type};
	size_t room = min(ALIGN(head.cmsg_len, 8), c->left);

	if (copy_to_user(c->at, &head, sizeof(head)))
		return;
	c->at += room;
	c->left -= room;
}

/* A message with this data, cut to the room that there is; none where it cannot be written. */
static void put_data(struct control *c, int level, int type, const void *data, size_t bytes)
{
	if (c->left < sizeof(struct cmsghdr)) {
		c->io->out_flags |= MSG_CTRUNC;
		return;
	}
	if (c->left < sizeof(struct cmsghdr) + bytes) {
		c->io->out_flags |= MSG_CTRUNC;
		bytes = c->left - sizeof(struct cmsghdr);
	}
	if (!copy_to_user(c->at + sizeof(struct cmsghdr), data, bytes))
		put_head(c, level, type, bytes);
}

/* A descriptor for the file, told at `to`. The number comes first, so nothing has to be taken back. 0 or -errno. */
static int put_file(struct file *f, int __user *to, unsigned flags)
{
	int fd = get_unused_fd_flags(flags & MSG_CMSG_CLOEXEC ? O_CLOEXEC : 0);

	if (fd < 0)
		return fd;
	if (put_user(fd, to)) {
		put_unused_fd(fd);
		return -EFAULT;
	}
	fd_install(fd, get_file(f));
	return 0;
}

/* As many as there are room and descriptors for; the others are closed. */
static void put_rights(struct control *c, const struct scm_files *files)
{
	int __user *to = (int __user *)(c->at + sizeof(struct cmsghdr));
	unsigned room = c->left > sizeof(struct cmsghdr) ? (c->left - sizeof(struct cmsghdr)) / sizeof(int) : 0, n = 0;

	while (n < min(room, files->nr) && !put_file(files->file[n], to + n, c->io->flags))
		n++;
	if (n < files->nr)
		c->io->out_flags |= MSG_CTRUNC;
	if (n)
		put_head(c, SOL_SOCKET, SCM_RIGHTS, n * sizeof(int));
}

void scm_receive(struct scm *scm, bool passcred, void __user *control, size_t *len, struct sock_io *io)
{
	struct control c = {control, *len, io};

	if (passcred)
		put_data(&c, SOL_SOCKET, SCM_CREDENTIALS, &scm->cred, sizeof(scm->cred));
	for (unsigned i = 0; i < io->nr_beside; i++)
		put_data(&c, io->beside[i].level, io->beside[i].type, io->beside[i].data, io->beside[i].len);
	if (scm->files)
		put_rights(&c, scm->files);
	scm_put_files(scm->files);
	scm->files = NULL;
	*len -= c.left;
}
