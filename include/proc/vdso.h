/*
 * The vDSO: a shared object that the kernel maps into every program (vdso(7)), built from vdso/. Its functions tell the
 * time without a system call.
 */
#pragma once

#include <asm/elf.h>
#include <uapi/elf.h>

struct mm_struct;

extern const struct elf64_hdr vdso_image; /* kernel/proc/vdso_image.S: the file, VDSO_SIZE bytes */

/* Map code and data into a new mm, at VDSO_BASE and VVAR_BASE. 0 or -errno. Thread context; takes the mm's m. */
int map_vdso(struct mm_struct *mm);

/* Where a handler without a restorer of its own returns to: code that calls rt_sigreturn(2), the file's entry. */
static inline unsigned long vdso_sigreturn(void)
{
	return VDSO_BASE + vdso_image.e_entry;
}
