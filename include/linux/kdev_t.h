/* Numbers of devices. */
#pragma once

#include <fs/libfs.h>
