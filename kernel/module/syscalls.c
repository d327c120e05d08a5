/*
 * init_module(2) and finit_module(2): from the caller's file and text of parameters to a load (main.c).
 * delete_module(2) is in unload.c.
 */
#include "internal.h"

#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <kernel/init.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <proc/syscall.h>

#define MAX_FILE (64UL << 20) /* bytes of a file that are looked at at all */
#define MAX_ARGS 4096

/* The text of the parameters; ERR_PTR. */
static char *fetch_args(const char __user *uargs)
{
	char *args = kmalloc(MAX_ARGS, GFP_KERNEL);
	ssize_t len = args ? strncpy_from_user(args, uargs, MAX_ARGS) : -ENOMEM;

	if (len == MAX_ARGS)
		len = -E2BIG;
	if (len >= 0)
		return args;
	kfree(args);
	return ERR_PTR(len);
}

/*
 * The file is in memory that no program can write: what was checked cannot change before it is used. The parameters
 * are fetched before the file is looked at, since a fault is the caller's error and not the module's.
 */
static long load_with_args(const char *file_name, void *file, size_t len, const char __user *uargs)
{
	char *args = fetch_args(uargs);
	long err;

	if (IS_ERR(args))
		return PTR_ERR(args);
	err = load_module(file_name, file, len, args);
	kfree(args);
	return err;
}

/* The file is in the caller's memory. A length that cannot be a module's is refused before anything is allocated. */
SYSCALL_DEFINE3(init_module, void __user *, umod, unsigned long, len, const char __user *, uargs)
{
	void *file;
	long err = module_may_load();

	if (err)
		return err;
	if (len < sizeof(struct elf64_hdr) || len > MAX_FILE)
		return -ENOEXEC;
	file = kvmalloc(len, GFP_KERNEL);
	if (!file)
		return -ENOMEM;
	err = copy_from_user(file, umod, len) ? -EFAULT : load_with_args(NULL, file, len, uargs);
	kvfree(file);
	return err;
}

/*
 * The whole file; its length, or -errno: -EINVAL if it is empty or not a regular file, which the log says. *copy is the
 * caller's to free.
 */
static ssize_t read_whole_file(struct file *f, const char *name, void **copy)
{
	struct load_info nameless = {.file_name = name};
	loff_t pos = 0, size = i_size_read(f->f_inode);
	ssize_t got;

	if (!(f->f_mode & FMODE_READ))
		return -EBADF;
	if (!S_ISREG(f->f_inode->i_mode) || !size)
		return module_refuse(&nameless, -EINVAL, "it is empty, or not a regular file");
	if (size < (loff_t)sizeof(struct elf64_hdr) || size > MAX_FILE)
		return module_refuse(&nameless, -ENOEXEC, "a file of %lld bytes cannot be a module", (long long)size);
	*copy = kvmalloc(size, GFP_KERNEL);
	if (!*copy)
		return -ENOMEM;
	got = kernel_read(f, *copy, size, &pos);
	return got == size ? got : got < 0 ? got : -EIO;
}

/* Flags would make it ignore what the module says of its kernel: that is never safe here. */
SYSCALL_DEFINE3(finit_module, int, fd, const char __user *, uargs, int, flags)
{
	char name[MODULE_NAME_LEN]; /* the file's, cut to what fits */
	void *copy = NULL;
	struct file *f;
	ssize_t len = module_may_load();

	if (len)
		return len;
	if (flags)
		return -EINVAL;
	f = fget(fd);
	if (!f)
		return -EBADF;
	strscpy(name, f->f_dentry->d_name.name, sizeof(name));
	len = read_whole_file(f, name, &copy);
	fput(f);
	if (len > 0)
		len = load_with_args(name, copy, len, uargs);
	kvfree(copy);
	return len;
}
