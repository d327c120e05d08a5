/* Where memory may come from. */
#pragma once

#include <mm/gfp.h>
#include <mm/page.h>

#define GFP_NOWAIT GFP_ATOMIC
#define GFP_NOIO   GFP_KERNEL /* there is no swap: reclaim does no input or output */
#define GFP_NOFS   GFP_KERNEL

/* Whole pages: to modules, as in Linux, an address is a number, and 0 says that there is no memory. */
#define __get_free_pages(gfp, order) ((unsigned long)get_free_pages(gfp, order))
#define __get_free_page(gfp)	     __get_free_pages(gfp, 0)
#define get_zeroed_page(gfp)	     __get_free_page((gfp) | __GFP_ZERO)
#define free_pages(address, order)   free_pages((void *)(unsigned long)(address), order)
#define free_page(address)	     free_pages(address, 0)
