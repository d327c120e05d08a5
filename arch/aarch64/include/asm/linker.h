/* What linker.ld must know of this machine. Also read by assembly: macros only. */
#pragma once

#define LINKER_FORMAT "elf64-littleaarch64"
#define LINKER_ARCH   aarch64
#define LINKER_OUTPUT LINKER_FORMAT
/*
 * Link address of the image's first byte: a multiple of 2 MiB, as the load address is, so offsets within 2 MiB agree.
 */
#define KIMAGE_VADDR 0xffffffc080000000
/* The loader takes a flat image and puts it where it likes: an ELF physical address has no meaning. */
#define LOAD_OFFSET  0
#define KIMAGE_ENTRY _text
/* What boot/arm64_head.S has page tables for. */
#define KIMAGE_MAX_SIZE 0x1000000
/* Pages of text that have a slot of the fixmap, through which they are written (FIX_TEXT). */
#define KIMAGE_TEXT_PAGES 496
/* A note would be a segment of its own below the image, and QEMU would then lose the FDT. */
#define LINKER_PHDRS
#define LINKER_NOTES
