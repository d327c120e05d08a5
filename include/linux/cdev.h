/* Character devices. */
#pragma once

#include <fs/cdev.h>
#include <linux/fs.h>
