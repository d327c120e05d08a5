/*
 * Devices of major 10: a name, a minor, operations, and a node in /dev that comes and goes by itself. The shortest way
 * to a device (kernel/module/api/misc.c). Lifetime as in <fs/cdev.h>.
 */
#pragma once

#include <fs/cdev.h>
#include <fs/device.h>

#define MISC_MAJOR	   10
#define MISC_DYNAMIC_MINOR 255 /* for `minor`: any that is free; it stands there afterwards */

/* file->private_data is the miscdevice when fops->open is called. */
struct miscdevice {
	int minor;
	const char *name;		    /* also that of the node; must stay as long */
	const struct file_operations *fops; /* set its owner */
	struct device *this_device;	    /* from registering on */
	mode_t mode;			    /* of the node; 0: 0600 */
	struct cdev cdev;		    /* misc.c's, as the next one */
	struct list_head list;		    /* [misc_mutex] */
};
/* 0; -EBUSY: the minor is taken, or there is no more; -EEXIST: the name. Thread context. */
int misc_register(struct miscdevice *misc);
void misc_deregister(struct miscdevice *misc);

/* Lines of /proc/misc for devices of modules; m NULL: none. How many there are. NULL: no room has such devices. */
extern unsigned (*misc_devices_show)(struct seq_file *m); /* [I] after boot */
