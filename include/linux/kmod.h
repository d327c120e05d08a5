/* Asking for modules, and programs that the kernel starts. */
#pragma once

#include <linux/umh.h>
#include <kernel/kmod.h>
