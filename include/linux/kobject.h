/* Directories in /sys. */
#pragma once

#include <fs/kobject.h>
