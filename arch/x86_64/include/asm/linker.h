/* What linker.ld must know of this machine. Also read by assembly: macros only. */
#pragma once

#define LINKER_FORMAT "elf64-x86-64"
#define LINKER_ARCH   i386:x86-64
#define LINKER_OUTPUT LINKER_FORMAT
/* Virtual minus physical address: the image runs in the last 2 GiB, where -mcmodel=kernel can address it. */
#define LOAD_OFFSET   0xffffffff80000000
/* Loaded at 2 MiB: above what BIOS uses, below what UEFI firmware of this machine uses (8 MiB on). */
#define KIMAGE_VADDR  0xffffffff80200000
/* ELF entry is a physical address here: for loaders that enter with paging off (boot/x86_head.S). */
#define KIMAGE_ENTRY  x86_start_phys
