/* Parameters. */
#pragma once

#include <kernel/moduleparam.h>
