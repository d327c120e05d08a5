/* Memory: sizes of pages, and what falls back to vmalloc. */
#pragma once

#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <mm/page.h>

#define PAGE_ALIGN(x) ALIGN(x, PAGE_SIZE)
#define offset_in_page(p) ((unsigned long)(p) & (PAGE_SIZE - 1))
