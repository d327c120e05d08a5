/* The caller's memory: copy_to_user() and its like return how many bytes they have not copied. Thread context. */
#pragma once

#include <linux/sched.h>
#include <asm/uaccess.h>
