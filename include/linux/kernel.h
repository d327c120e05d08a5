/* The names that Linux declares in one place. */
#pragma once

#include <kernel/panic.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/kstrtox.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/types.h>
#include <trace/trace_boot.h>
#include <trace/trace_printk.h>
