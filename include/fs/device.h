/*
 * Devices as far as /dev and /sys/class show them: a name, a number, a node (kernel/module/api/device.c). There is no
 * model of buses and drivers behind it. A class is made by class_create(), since it has a directory. All of it is
 * thread context.
 */
#pragma once

#include <lib/list.h>
#include <lib/types.h>

struct device;

/* Locks: I immutable. */
struct class
{
	const char *name; /* [I] */
	/* [I] NULL, or: may change the permissions of a node, which are 0600. Its result must be NULL. */
	char *(*devnode)(const struct device *dev, mode_t *mode);
};
/* Locks: d device_mutex; I immutable; u its user's. */
struct device {
	struct list_head list;	   /* [d] */
	const struct class *class; /* [I] NULL: none */
	struct device *parent;	   /* [I] */
	dev_t devt;		   /* [I] */
	void *driver_data;	   /* [u] */
	char name[40];		   /* [I] of the node, with at most one folder */
};

/*
 * `name` must stay. ERR_PTR(-EEXIST, -ENOMEM). class_destroy: its devices are destroyed before; an error pointer is
 * passed over.
 */
struct class *class_create(const char *name);
void class_destroy(const struct class *class);
/*
 * The device with its node /dev/NAME. ERR_PTR: -EEXIST (the name), -ENAMETOOLONG, -ENOMEM. device_destroy: by its
 * number; nothing happens if there is none.
 */
struct device *device_create(const struct class *class, struct device *parent, dev_t devt, void *drvdata,
			     const char *fmt, ...) __printf(5, 6);
struct device *device_create_mode(const struct class *class, dev_t devt, mode_t mode, void *drvdata, const char *fmt,
				  ...) __printf(5, 6);
void device_destroy(const struct class *class, dev_t devt);

static inline const char *dev_name(const struct device *dev)
{
	return dev->name;
}
static inline void *dev_get_drvdata(const struct device *dev)
{
	return dev->driver_data;
}
static inline void dev_set_drvdata(struct device *dev, void *data)
{
	dev->driver_data = data;
}
