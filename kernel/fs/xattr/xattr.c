/*
 * Extended attributes. No file system here keeps any. The calls check what Linux checks, in Linux's order,
 * and then answer as Linux does for a file system without them: -EOPNOTSUPP, or an empty list. Programs such as ls
 * and cp ask, get that answer, and go on; -ENOSYS would make some of them complain.
 */
#include "../files.h"

#include <lib/string.h>
#include <proc/syscall.h>

#define XATTR_NAME_MAX 255
#define XATTR_SIZE_MAX 65536
#define XATTR_CREATE   1
#define XATTR_REPLACE  2

/* Names begin with the name of their namespace, which decides who may see them. */
static bool in_namespace(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/*
 * May the caller do `mask` (MAY_*) with an attribute of this name? An attribute that is hidden from the caller reads as
 * missing.
 */
static int xattr_permission(const struct inode *inode, const char *name, int mask)
{
	int hidden = mask & MAY_WRITE ? -EPERM : -ENODATA;

	if (in_namespace(name, "security.") || in_namespace(name, "system."))
		return 0; /* the owner of the namespace decides on Linux, and there is no owner here */
	if (in_namespace(name, "trusted."))
		return capable(CAP_SYS_ADMIN) ? 0 : hidden;
	if (in_namespace(name, "user.") && !S_ISREG(inode->i_mode) && !S_ISDIR(inode->i_mode))
		return hidden;
	return inode_permission(inode, mask);
}

/* What a call asks for. */
struct xattr_request {
	enum { XATTR_GET, XATTR_SET, XATTR_REMOVE, XATTR_LIST } kind;
	const char __user *name;
	const char __user *value; /* SET */
	size_t size;		  /* SET: bytes of value */
	int flags;		  /* SET: XATTR_CREATE, XATTR_REPLACE */
};

/* The attribute's name. 0, -EFAULT, or -ERANGE for an empty or too long one. */
static int copy_name(char *name, const char __user *uname)
{
	long len = strncpy_from_user(name, uname, XATTR_NAME_MAX + 1);

	if (len < 0)
		return len;
	return !len || len > XATTR_NAME_MAX ? -ERANGE : 0;
}

/* The value must be readable, though it is not kept. 0, -E2BIG or -EFAULT. */
static int check_value(const char __user *value, size_t size)
{
	char chunk[64];

	if (size > XATTR_SIZE_MAX)
		return -E2BIG;
	for (size_t at = 0; at < size; at += sizeof(chunk))
		if (copy_from_user(chunk, value + at, min(size - at, sizeof(chunk))))
			return -EFAULT;
	return 0;
}

/*
 * Check a request, and answer it. Never 0 except for lists, which hold 0 bytes of names. A change asks for a writable
 * mount first, since on Linux -EROFS comes before any other error.
 */
static int do_xattr(const struct path *path, const struct xattr_request *r)
{
	char name[XATTR_NAME_MAX + 1];
	int err = 0;

	if (r->kind == XATTR_LIST)
		return 0;
	if (r->kind != XATTR_GET)
		err = mnt_want_write(path);
	if (!err && (r->flags & ~(XATTR_CREATE | XATTR_REPLACE)))
		err = -EINVAL;
	if (!err)
		err = copy_name(name, r->name);
	if (!err && r->kind == XATTR_SET)
		err = check_value(r->value, r->size);
	if (!err)
		err = xattr_permission(path->dentry->d_inode, name, r->kind == XATTR_GET ? MAY_READ : MAY_WRITE);
	return err ? err : -EOPNOTSUPP;
}

/* By name. how: LOOKUP_FOLLOW, or 0 for a link at the end itself. */
static int xattr_at(const char __user *file, unsigned how, struct xattr_request r)
{
	struct path path;
	int err = user_path_at(AT_FDCWD, file, how, &path);

	if (err)
		return err;
	err = do_xattr(&path, &r);
	path_put(&path);
	return err;
}

/* The same for an open file. */
static int xattr_fd(unsigned fd, struct xattr_request r)
{
	struct fd f = fdget(fd);
	struct path path;
	int err;

	if (!f.file)
		return -EBADF;
	path = file_path(f.file);
	err = do_xattr(&path, &r);
	fdput(f);
	return err;
}

/* The three calls that set an attribute have the same arguments, under the same names. */
#define SET_REQUEST ((struct xattr_request){XATTR_SET, name, value, size, flags})

SYSCALL_DEFINE5(setxattr, const char __user *, pathname, const char __user *, name, const void __user *, value, size_t,
		size, int, flags)
{
	return xattr_at(pathname, LOOKUP_FOLLOW, SET_REQUEST);
}

SYSCALL_DEFINE5(lsetxattr, const char __user *, pathname, const char __user *, name, const void __user *, value, size_t,
		size, int, flags)
{
	return xattr_at(pathname, 0, SET_REQUEST);
}

SYSCALL_DEFINE5(fsetxattr, int, fd, const char __user *, name, const void __user *, value, size_t, size, int, flags)
{
	return xattr_fd(fd, SET_REQUEST);
}

/* The place for the value is never written, so it is not looked at. */
SYSCALL_DEFINE4(getxattr, const char __user *, pathname, const char __user *, name, void __user *, value, size_t, size)
{
	return xattr_at(pathname, LOOKUP_FOLLOW, (struct xattr_request){.kind = XATTR_GET, .name = name});
}

SYSCALL_DEFINE4(lgetxattr, const char __user *, pathname, const char __user *, name, void __user *, value, size_t, size)
{
	return xattr_at(pathname, 0, (struct xattr_request){.kind = XATTR_GET, .name = name});
}

SYSCALL_DEFINE4(fgetxattr, int, fd, const char __user *, name, void __user *, value, size_t, size)
{
	return xattr_fd(fd, (struct xattr_request){.kind = XATTR_GET, .name = name});
}

SYSCALL_DEFINE3(listxattr, const char __user *, pathname, char __user *, list, size_t, size)
{
	return xattr_at(pathname, LOOKUP_FOLLOW, (struct xattr_request){.kind = XATTR_LIST});
}

SYSCALL_DEFINE3(llistxattr, const char __user *, pathname, char __user *, list, size_t, size)
{
	return xattr_at(pathname, 0, (struct xattr_request){.kind = XATTR_LIST});
}

SYSCALL_DEFINE3(flistxattr, int, fd, char __user *, list, size_t, size)
{
	return xattr_fd(fd, (struct xattr_request){.kind = XATTR_LIST});
}

SYSCALL_DEFINE2(removexattr, const char __user *, pathname, const char __user *, name)
{
	return xattr_at(pathname, LOOKUP_FOLLOW, (struct xattr_request){.kind = XATTR_REMOVE, .name = name});
}

SYSCALL_DEFINE2(lremovexattr, const char __user *, pathname, const char __user *, name)
{
	return xattr_at(pathname, 0, (struct xattr_request){.kind = XATTR_REMOVE, .name = name});
}

SYSCALL_DEFINE2(fremovexattr, int, fd, const char __user *, name)
{
	return xattr_fd(fd, (struct xattr_request){.kind = XATTR_REMOVE, .name = name});
}
