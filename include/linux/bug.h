/* The name that Linux has for it. */
#pragma once

#include <kernel/panic.h>
#include <linux/printk.h>

/* With a line of your own before the report. */
#define WARN(c, fmt, ...)                                        \
	({                                                       \
		bool _wrong = !!(c);                             \
		if (unlikely(_wrong)) {                          \
			printk(KERN_WARNING fmt, ##__VA_ARGS__); \
			__warn(__FILE__, __LINE__, #c);          \
		}                                                \
		unlikely(_wrong);                                \
	})
#define WARN_ONCE(c, fmt, ...)                                                              \
	({                                                                                  \
		static bool _said;                                                          \
		bool _bad = !!(c);                                                          \
		if (unlikely(_bad) && !__atomic_exchange_n(&_said, true, __ATOMIC_RELAXED)) \
			WARN(1, fmt, ##__VA_ARGS__);                                        \
		unlikely(_bad);                                                             \
	})
