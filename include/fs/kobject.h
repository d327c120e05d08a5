/*
 * Directories and files of modules in /sys: a kobject is a directory, an attribute is a file of one page of text
 * (kernel/module/api/kobject.c). There is no more to kobjects here: no types, no events.
 *
 * Removal waits for show and store functions that run (<fs/removable.h>). Thread context, all of it.
 */
#pragma once

#include <lib/types.h>

struct dentry;
struct kobject;

struct attribute {
	const char *name;
	mode_t mode;
};
/* `buf` has a page. show: bytes or -errno; store: bytes that it has taken, normally count, or -errno. No lock held. */
struct kobj_attribute {
	struct attribute attr;
	ssize_t (*show)(struct kobject *kobj, struct kobj_attribute *attr, char *buf);
	ssize_t (*store)(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count);
};
/* Several files; with a name, in a directory of their own. */
struct attribute_group {
	const char *name;
	struct attribute **attrs; /* each of a kobj_attribute; NULL ends the list */
};
#define __ATTR(n, m, s, t)    \
	{                     \
		{#n, m}, s, t \
	}
#define __ATTR_RO(n) __ATTR(n, 0444, n##_show, NULL)
#define __ATTR_WO(n) __ATTR(n, 0200, NULL, n##_store)
#define __ATTR_RW(n) __ATTR(n, 0644, n##_show, n##_store)

extern struct kobject *kernel_kobj; /* /sys/kernel [immutable after boot] */

/* NULL: the name exists, or memory is short. parent NULL: /sys itself. */
struct kobject *kobject_create_and_add(const char *name, struct kobject *parent);
/* The directory goes with all files in it. NULL is allowed. */
void kobject_put(struct kobject *kobj);

/* 0 or -errno: -EEXIST. Files that could be made before one failed are removed again. */
int sysfs_create_file(struct kobject *kobj, const struct attribute *attr);
void sysfs_remove_file(struct kobject *kobj, const struct attribute *attr);
int sysfs_create_group(struct kobject *kobj, const struct attribute_group *group);
void sysfs_remove_group(struct kobject *kobj, const struct attribute_group *group);
/* For show: at most a page. */
int sysfs_emit(char *buf, const char *fmt, ...) __printf(2, 3);
