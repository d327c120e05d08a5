/* Files in /sys. */
#pragma once

#include <fs/kobject.h>

#define ATTRIBUTE_GROUPS(name) static const struct attribute_group name##_group = {.attrs = name##_attrs}
