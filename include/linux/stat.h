/* Permission bits, as module_param and proc_create take them. */
#pragma once

#include <uapi/stat.h>

#define S_IRUSR 0400
#define S_IWUSR 0200
#define S_IXUSR 0100
#define S_IRGRP 0040
#define S_IWGRP 0020
#define S_IXGRP 0010
#define S_IROTH 0004
#define S_IWOTH 0002
#define S_IXOTH 0001
#define S_IRWXU 0700
#define S_IRUGO 0444
#define S_IWUGO 0222
#define S_IXUGO 0111
