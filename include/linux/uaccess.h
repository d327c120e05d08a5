/* The caller's memory: copy_to_user() and its like return how many bytes they have not copied. Thread context. */
#pragma once

#include <linux/sched.h>
#include <asm/uaccess.h>
/* Without access_ok() before them: the address is looked at in any case. */
#define __get_user(x, p) get_user(x, p)
#define __put_user(x, p) put_user(x, p)
