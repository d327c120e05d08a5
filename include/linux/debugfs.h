/* Files in debugfs. */
#pragma once

#include <fs/debugfs.h>
#include <linux/fs.h>
