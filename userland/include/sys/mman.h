/* Mapping memory. */
#ifndef VT_SYS_MMAN_H
#define VT_SYS_MMAN_H

#include <sys/types.h>
#include <uapi/mman.h>

#define MAP_FAILED ((void *)-1)

/* Returns the address, or MAP_FAILED with errno. length in bytes, offset a multiple of the page size. */
void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
/* Returns 0, or -1 with errno. */
int munmap(void *addr, size_t length);

#endif
