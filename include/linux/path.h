/* Where a file is: its mount and its name. */
#pragma once

#include <linux/fs.h>
