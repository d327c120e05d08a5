/* Memory that is contiguous in addresses only. */
#pragma once

#include <mm/vmalloc.h>
