/* Devices and their messages. */
#pragma once

#include <fs/device.h>
#include <linux/err.h>
#include <linux/printk.h>

/* "NAME: text"; a device that is not there is (NULL). */
#define dev_printk(level, dev, fmt, ...) \
	printk(level "%s: " fmt, (dev) ? dev_name(dev) : "(NULL device *)", ##__VA_ARGS__)
#define dev_emerg(dev, ...)  dev_printk(KERN_EMERG, dev, __VA_ARGS__)
#define dev_alert(dev, ...)  dev_printk(KERN_ALERT, dev, __VA_ARGS__)
#define dev_crit(dev, ...)   dev_printk(KERN_CRIT, dev, __VA_ARGS__)
#define dev_err(dev, ...)    dev_printk(KERN_ERR, dev, __VA_ARGS__)
#define dev_warn(dev, ...)   dev_printk(KERN_WARNING, dev, __VA_ARGS__)
#define dev_notice(dev, ...) dev_printk(KERN_NOTICE, dev, __VA_ARGS__)
#define dev_info(dev, ...)   dev_printk(KERN_INFO, dev, __VA_ARGS__)
#define dev_dbg(dev, ...)    dev_printk(KERN_DEBUG, dev, __VA_ARGS__)
