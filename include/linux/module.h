/* What every module includes. */
#pragma once

#include <asm/page.h>
#include <kernel/module.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/moduleparam.h>
#include <linux/stat.h>

#define MODULE_LICENSE(text)	 MODULE_INFO(license, text)
#define MODULE_AUTHOR(text)	 MODULE_INFO(author, text)
#define MODULE_DESCRIPTION(text) MODULE_INFO(description, text)
#define MODULE_VERSION(text)	 MODULE_INFO(version, text)
#define MODULE_ALIAS(text)	 MODULE_INFO(alias, text)
/* For a file system, and for devices by number: what the kernel asks modprobe for (request_module). */
#define MODULE_ALIAS_FS(name)		   MODULE_ALIAS("fs-" name)
#define MODULE_ALIAS_CHARDEV(major, minor) MODULE_ALIAS("char-major-" __stringify(major) "-" __stringify(minor))
#define MODULE_ALIAS_CHARDEV_MAJOR(major)  MODULE_ALIAS("char-major-" __stringify(major) "-*")
#define MODULE_ALIAS_MISCDEV(minor)	   MODULE_ALIAS_CHARDEV(10, minor)
#define MODULE_SOFTDEP(text)		   MODULE_INFO(softdep, text)
#define MODULE_FIRMWARE(text)		   MODULE_INFO(firmware, text)
#define MODULE_IMPORT_NS(text)		   MODULE_INFO(import_ns, #text)
#define MODULE_DEVICE_TABLE(type, name)

int init_module(void);
void cleanup_module(void);
