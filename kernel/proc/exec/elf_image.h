/* An ELF file on its way into a new address space: what binfmt_elf.c has checked, elf_map.c maps. */
#pragma once

#include <fs/vfs.h>
#include <proc/exec.h>
#include <uapi/elf.h>

#define MIN_STACK_GAP (128UL << 20) /* left for the stack to grow into, below it mmap's area */

/* A program or its dynamic linker, with what its headers say. Addresses are without the bias. */
struct elf_image {
	struct file *file; /* NULL: there is no dynamic linker */
	struct elf64_hdr hdr;
	struct elf64_phdr *phdr; /* kmalloc'ed */
	unsigned long bias;	 /* added to every address: 0 for ET_EXEC */
	unsigned long low, high; /* of all segments, page aligned */
	unsigned long align;	 /* largest p_align */
	unsigned long phdr_addr; /* of the program headers in memory, 0: not loaded */
	bool exec_stack;
};

static inline bool is_segment(const struct elf64_phdr *ph)
{
	return ph->p_type == PT_LOAD && (ph->p_memsz || ph->p_filesz);
}

/* Decide whether this program's addresses are chosen at random (bprm->randomize). Any context. */
void choose_randomness(struct binprm *bprm, const struct elf_image *img);
/*
 * Map the program, its dynamic linker (file NULL: it has no such), the stack and the vDSO into a new mm, which no other
 * task uses, and set both images' bias. Thread context. 0 or -errno.
 */
int map_program(struct binprm *bprm, struct mm_struct *mm, struct elf_image *img, struct elf_image *interp);
