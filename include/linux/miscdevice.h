/* Devices of major 10. */
#pragma once

#include <fs/miscdevice.h>
#include <linux/fs.h>

/* A module that is one such device and nothing else. */
#define module_misc_device(misc)                           \
	static int __init misc##_init(void)                \
	{                                                  \
		return misc_register(&(misc));             \
	}                                                  \
	module_init(misc##_init);                          \
	static void __exit misc##_exit(void)               \
	{                                                  \
		misc_deregister(&(misc));                  \
	}                                                  \
	module_exit(misc##_exit)
