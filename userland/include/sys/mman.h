/* Mapping memory. */
#ifndef VT_SYS_MMAN_H
#define VT_SYS_MMAN_H

#include <sys/types.h>

#define PROT_READ  1
#define PROT_WRITE 2
#define PROT_EXEC  4

#define MAP_SHARED    0x01
#define MAP_PRIVATE   0x02
#define MAP_FIXED     0x10
#define MAP_ANONYMOUS 0x20
#define MAP_FAILED    ((void *)-1)

/* Returns the address, or MAP_FAILED with errno. length in bytes, offset a multiple of the page size. */
void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);
/* Returns 0, or -1 with errno. */
int munmap(void *addr, size_t length);

#endif
