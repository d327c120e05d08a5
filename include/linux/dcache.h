/* Names of files, as far as modules see them. */
#pragma once

#include <linux/fs.h>
