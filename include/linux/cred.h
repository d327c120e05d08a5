/* The rights of the current task. */
#pragma once

#include <linux/sched.h>
#include <linux/uidgid.h>
#include <proc/cred.h>

#define current_uid()  ((kuid_t)current->uid)
#define current_euid() ((kuid_t)current->euid)
