/* Messages. */
#pragma once

#include <kernel/printk.h>

#define KERN_DEFAULT KERN_WARNING
#define pr_alert(fmt, ...)   printk(KERN_ALERT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_crit(fmt, ...)    printk(KERN_CRIT pr_fmt(fmt), ##__VA_ARGS__)
#define pr_warning	     pr_warn
#define pr_devel	     pr_debug
#define pr_err_once(...)     pr_once(pr_err, __VA_ARGS__)
#define pr_info_once(...)    pr_once(pr_info, __VA_ARGS__)
#define printk_once(...)     pr_once(printk, __VA_ARGS__)
#define pr_once(say, ...)                                                 \
	do {                                                              \
		static bool _said;                                        \
		if (!__atomic_exchange_n(&_said, true, __ATOMIC_RELAXED)) \
			say(__VA_ARGS__);                                 \
	} while (0)

/* At most one message in 200 ms from each place, so that a loop does not fill the log; Linux lets 10 in 5 s through. */
u64 get_jiffies_64(void);
#define pr_ratelimited(say, ...)                                                               \
	do {                                                                                   \
		static u64 _next;                                                              \
		if (get_jiffies_64() >= READ_ONCE(_next)) {                                    \
			WRITE_ONCE(_next, get_jiffies_64() + 50);                              \
			say(__VA_ARGS__);                                                      \
		}                                                                              \
	} while (0)
#define pr_err_ratelimited(...)	 pr_ratelimited(pr_err, __VA_ARGS__)
#define pr_warn_ratelimited(...) pr_ratelimited(pr_warn, __VA_ARGS__)
#define pr_info_ratelimited(...) pr_ratelimited(pr_info, __VA_ARGS__)
#define printk_ratelimited(...)	 pr_ratelimited(printk, __VA_ARGS__)
