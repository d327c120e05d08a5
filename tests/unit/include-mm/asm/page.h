/* "Physical" memory on the host: one block of the test's, at physical address 1 GiB as on the machine. */
#pragma once

#include <lib/types.h>

#define PAGE_SHIFT    12
#define PAGE_SIZE     (1UL << PAGE_SHIFT)
#define PAGE_MASK     (~(PAGE_SIZE - 1))
#define TASK_SIZE     (1UL << 39)
#define HOST_RAM_PHYS 0x40000000UL

extern char *host_ram; /* aligned to 4 MiB */
#define __va(pa)	 ((void *)(host_ram + ((phys_addr_t)(pa)-HOST_RAM_PHYS)))
#define __pa(va)	 ((phys_addr_t)((char *)(va)-host_ram) + HOST_RAM_PHYS)
#define clear_page(p)	 memset(p, 0, PAGE_SIZE)
#define copy_page(to, p) memcpy(to, p, PAGE_SIZE)
