/* What linker.ld must know of this machine. Also read by assembly: macros only. */
#pragma once

/* What the linker reads as words of its own is laid out by hand. */
/* clang-format off */
#define LINKER_FORMAT "elf64-x86-64"
#define LINKER_ARCH   i386:x86-64
#define LINKER_OUTPUT LINKER_FORMAT
/* Virtual minus physical address: the image runs in the last 2 GiB, where -mcmodel=kernel can address it. */
#define LOAD_OFFSET   0xffffffff80000000
/* Loaded at 2 MiB: above what BIOS uses, below what UEFI firmware of this machine uses (8 MiB on). */
#define KIMAGE_VADDR  0xffffffff80200000
/* What boot/x86_head.S has page tables for. */
#define KIMAGE_MAX_SIZE 0x1000000
/* Pages of text that have a slot of the fixmap, through which they are written (FIX_TEXT). */
#define KIMAGE_TEXT_PAGES 496
/*
 * Where multiboot2 enters, paging off. e_entry is a link address although the code runs at the physical one:
 * GRUB looks for the segment that has it and takes the difference off. PVH has the physical address of its
 * own entry in the note.
 */
#define KIMAGE_ENTRY  x86_start
/* The PVH note: in rodata, and in a program header of its own, by which loaders find it. */
#define LINKER_PHDRS	note PT_NOTE FLAGS(4);
#define LINKER_NOTES	.note.Xen : AT_PHYS(.note.Xen) { KEEP(*(.note.Xen)) } :rodata :note
/* clang-format on */
