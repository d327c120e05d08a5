/* Directories and files of modules in /sys (<fs/kobject.h>). */
#include "../../fs/internal.h"

#include <asm/uaccess.h>
#include <fs/kobject.h>
#include <fs/libfs.h>
#include <fs/removable.h>
#include <kernel/export.h>
#include <kernel/init.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>

struct kobject {
	struct dentry *dir;
};
struct kobject *kernel_kobj;

/* A file. */
struct kobj_file {
	struct removable_file file; /* must be first */
	struct kobject *kobj;
	struct kobj_attribute *attr;
};

static int kobj_show(struct seq_file *m, void *v)
{
	const struct kobj_file *kf = m->private;
	char *page = kzalloc(PAGE_SIZE, GFP_KERNEL);
	ssize_t n = page ? -EIO : -ENOMEM;

	if (page && kf->attr->show)
		n = kf->attr->show(kf->kobj, kf->attr, page);
	if (n > 0)
		seq_write(m, page, min_t(size_t, n, PAGE_SIZE));
	kfree(page);
	return n < 0 ? n : 0;
}

static int kobj_open(struct inode *inode, struct file *f)
{
	return single_open(f, kobj_show, container_of(removable_of(inode), struct kobj_file, file));
}

/*
 * A write is handed over as one text with a zero behind it, a page at most, so that `store` needs no user memory. -EIO:
 * the attribute cannot be written; -ENOMEM, -EFAULT, what `store` returns.
 */
static ssize_t kobj_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	const struct kobj_file *kf = container_of(removable_of(f->f_inode), struct kobj_file, file);
	char *page;
	ssize_t ret;

	if (!kf->attr->store)
		return -EIO;
	n = min(n, PAGE_SIZE - 1);
	page = kmalloc(PAGE_SIZE, GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	ret = copy_from_user(page, buf, n) ? -EFAULT : 0;
	if (!ret) {
		page[n] = '\0';
		ret = kf->attr->store(kf->kobj, kf->attr, page, n);
	}
	kfree(page);
	return ret;
}

static const struct file_operations kobj_fops = {
	.open = kobj_open, .release = single_release, .read = seq_read, .write = kobj_write, .llseek = seq_lseek};

static int kobject_create_file(struct kobject *kobj, struct dentry *dir, const struct attribute *attr)
{
	struct kobj_file *kf = kzalloc(sizeof(*kf), GFP_KERNEL);
	struct dentry *d;

	if (!kf)
		return -ENOMEM;
	removable_init(&kf->file, &kobj_fops, attr->mode);
	kf->kobj = kobj;
	kf->attr = container_of(attr, struct kobj_attribute, attr);
	d = removable_attach(dir, attr->name, &kf->file, kf);
	removable_put(&kf->file);
	return IS_ERR(d) ? PTR_ERR(d) : 0;
}

static void kobject_remove_name(struct dentry *dir, const char *name)
{
	struct dentry *d = d_find_child(dir, name, strlen(name));

	if (!d)
		return;
	simple_remove(d);
	dput(d);
}

int sysfs_create_file(struct kobject *kobj, const struct attribute *attr)
{
	return kobject_create_file(kobj, kobj->dir, attr);
}
EXPORT_SYMBOL(sysfs_create_file);

void sysfs_remove_file(struct kobject *kobj, const struct attribute *attr)
{
	kobject_remove_name(kobj->dir, attr->name);
}
EXPORT_SYMBOL(sysfs_remove_file);

/*
 * All files of a group, or none; a group with a name gets a folder of its own. 0 or -errno: -ENOMEM, -EEXIST. Thread
 * context.
 */
int sysfs_create_group(struct kobject *kobj, const struct attribute_group *group)
{
	struct dentry *dir = group->name ? simple_create_dir(kobj->dir, group->name, 0755, NULL) : kobj->dir;
	struct attribute **a;
	int err = 0;

	if (IS_ERR(dir))
		return PTR_ERR(dir);
	for (a = group->attrs; *a && !err; a++)
		err = kobject_create_file(kobj, dir, *a);
	if (!err)
		return 0;
	for (a--; a-- > group->attrs;)
		kobject_remove_name(dir, (*a)->name);
	if (group->name)
		simple_remove(dir);
	return err;
}
EXPORT_SYMBOL(sysfs_create_group);

void sysfs_remove_group(struct kobject *kobj, const struct attribute_group *group)
{
	if (group->name) {
		kobject_remove_name(kobj->dir, group->name);
		return;
	}
	for (struct attribute **a = group->attrs; *a; a++)
		kobject_remove_name(kobj->dir, (*a)->name);
}
EXPORT_SYMBOL(sysfs_remove_group);

struct kobject *kobject_create_and_add(const char *name, struct kobject *parent)
{
	struct super_block *sb = single_super("sysfs");
	struct kobject *kobj = IS_ERR(sb) ? NULL : kzalloc(sizeof(*kobj), GFP_KERNEL);

	if (!kobj)
		return NULL;
	kobj->dir = simple_create_dir(parent ? parent->dir : sb->s_root, name, 0755, NULL);
	if (!IS_ERR(kobj->dir))
		return kobj;
	kfree(kobj);
	return NULL;
}
EXPORT_SYMBOL(kobject_create_and_add);

void kobject_put(struct kobject *kobj)
{
	if (!kobj)
		return;
	simple_remove(kobj->dir);
	kfree(kobj);
}
EXPORT_SYMBOL(kobject_put);

int sysfs_emit(char *buf, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vscnprintf(buf, PAGE_SIZE, fmt, args);
	va_end(args);
	return n;
}
EXPORT_SYMBOL(sysfs_emit);

/* The kernel's own directory, whose files are registered at compile time, as the parent of others. */
static int kobjects_init(void)
{
	static struct kobject kernel;
	struct super_block *sb = single_super("sysfs");

	if (IS_ERR(sb))
		return PTR_ERR(sb);
	kernel.dir = d_find_child(sb->s_root, "kernel", 6);
	kernel_kobj = &kernel;
	return kernel.dir ? 0 : -ENOENT;
}
fs_initcall(kobjects_init);
EXPORT_SYMBOL(kernel_kobj);
