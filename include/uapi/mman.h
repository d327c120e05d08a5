/* mmap(2), mprotect(2), madvise(2), msync(2), mremap(2): numbers of the ABI, the same on both machines. */
#pragma once

#define PROT_NONE  0u
#define PROT_READ  1u
#define PROT_WRITE 2u
#define PROT_EXEC  4u
#define PROT_SEM   8u /* for futexes: means nothing, as on Linux */

#define MAP_SHARED	    0x01u
#define MAP_PRIVATE	    0x02u
#define MAP_SHARED_VALIDATE 0x03u
#define MAP_TYPE	    0x0fu
#define MAP_FIXED	    0x10u
#define MAP_ANONYMOUS	    0x20u
#define MAP_GROWSDOWN	    0x100u
#define MAP_LOCKED	    0x2000u
#define MAP_POPULATE	    0x8000u
#define MAP_NONBLOCK	    0x10000u
#define MAP_HUGETLB	    0x40000u
#define MAP_FIXED_NOREPLACE 0x100000u
/* What MAP_SHARED_VALIDATE knows: the flags that were there before it, and the sizes of huge pages. */
#define MAP_VALIDATED (0x7f9f0u | 0x7c000000u | MAP_TYPE)

#define MADV_NORMAL	0
#define MADV_RANDOM	1
#define MADV_SEQUENTIAL 2
#define MADV_WILLNEED	3
#define MADV_DONTNEED	4

#define MLOCK_ONFAULT 1
#define MCL_CURRENT   1
#define MCL_FUTURE    2
#define MCL_ONFAULT   4

#define MS_ASYNC      1
#define MS_INVALIDATE 2
#define MS_SYNC	      4

#define MREMAP_MAYMOVE	 1u
#define MREMAP_FIXED	 2u
#define MREMAP_DONTUNMAP 4u
