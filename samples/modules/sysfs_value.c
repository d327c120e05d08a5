/* A directory with a file in /sys: /sys/kernel/sysfs_value/value */
#include <linux/kernel.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/sysfs.h>

MODULE_LICENSE("GPL");

static struct kobject *kobj;
static int value;

static ssize_t value_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", value);
}

static ssize_t value_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t count)
{
	int err = kstrtoint(buf, 10, &value);

	return err ? err : count;
}
static struct kobj_attribute value_attribute = __ATTR(value, 0644, value_show, value_store);

static int __init sysfs_value_init(void)
{
	int err;

	kobj = kobject_create_and_add("sysfs_value", kernel_kobj);
	if (!kobj)
		return -ENOMEM;
	err = sysfs_create_file(kobj, &value_attribute.attr);
	if (err)
		kobject_put(kobj);
	return err;
}
module_init(sysfs_value_init);

static void __exit sysfs_value_exit(void)
{
	kobject_put(kobj);
}
module_exit(sysfs_value_exit);
