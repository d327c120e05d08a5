/*
 * The address space of a new program:
 *
 *     VDSO_BASE      the vDSO's code, and below it its data (kernel/proc/vdso.c)
 *     stack_top      arguments, environment; the stack grows down
 *     mmap_base      at least MIN_STACK_GAP lower; mmap places areas from here downwards: first the dynamic linker,
 *                    or the program itself when it is position independent and has no dynamic linker (static-pie)
 *     ...
 *     brk            the heap, grows up; where a static-pie program leaves it to ELF_ET_DYN_BASE, that is its start
 *     image          segments: code, constants, data, bss; ET_DYN with a dynamic linker: at ELF_ET_DYN_BASE
 *
 * What is position independent moves by a random distance at each exec, and so do the stack and mmap_base of such a
 * program. A program that is linked to fixed addresses has them all at the same place each time. `norandmaps` on the
 * command line, 0 in /proc/sys/kernel/randomize_va_space, or personality(ADDR_NO_RANDOMIZE) switch that off.
 */
#include "elf_image.h"

#include <asm/elf.h>
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <kernel/cmdline.h>
#include <kernel/panic.h>
#include <kernel/random.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <proc/personality.h>
#include <proc/resource.h>
#include <proc/vdso.h>
#include <sched/current.h>
#include <uapi/mman.h>

#define STACK_ROOM (128UL << 10) /* of stack below the arguments from the start; it grows from there */

static unsigned randomize_va_space = 2; /* [a] 0: not at all; Linux's 1 and 2 mean the same here */

static int set_norandmaps(const char *value)
{
	randomize_va_space = 0;
	return 0;
}
__setup("norandmaps", set_norandmaps);

static int randomize_va_space_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%u\n", READ_ONCE(randomize_va_space));
	return 0;
}

static int randomize_va_space_store(char *text, void *data)
{
	unsigned n;
	int err = sysctl_number(text, &n);

	if (err || n > 2)
		return -EINVAL;
	WRITE_ONCE(randomize_va_space, n);
	return 0;
}

static const struct text_file randomize_va_space_entry = {.path = "sys/kernel/randomize_va_space",
							  .mode = 0644,
							  .show = randomize_va_space_show,
							  .store = randomize_va_space_store};
REGISTER_PROC(randomize_va_space_entry);

static bool gives_rights(const struct binprm *bprm)
{
	return bprm->file->f_inode->i_mode & (S_ISUID | S_ISGID);
}

/* The caller must not choose by its personality where the areas of a set-user-id program lie. */
void choose_randomness(struct binprm *bprm, const struct elf_image *img)
{
	bool wanted = gives_rights(bprm) || !(current->personality & ADDR_NO_RANDOMIZE);

	bprm->randomize = img->hdr.e_type == ET_DYN && READ_ONCE(randomize_va_space) && wanted;
	bprm->nr_random = 0;
	if (bprm->randomize) /* all at once, since each call computes a block of them */
		get_random_bytes(bprm->random, sizeof(bprm->random));
}

/*
 * Less than `pages` pages, which is a power of two, in bytes; 0 where nothing is random. Once for the stack, once for
 * mmap_base, and once for the program or its heap.
 */
static unsigned long random_offset(struct binprm *bprm, unsigned long pages)
{
	if (!bprm->randomize)
		return 0;
	BUG_ON(bprm->nr_random == ARRAY_SIZE(bprm->random));
	return (bprm->random[bprm->nr_random++] & (pages - 1)) << PAGE_SHIFT;
}

/*
 * The stack: its first part holds the arguments and environment and can be touched at once; the rest grows by faults.
 * Other mappings are placed below it (mmap_base), at a distance of RLIMIT_STACK within bounds. 0 or -errno.
 */
static int map_stack(struct binprm *bprm, struct mm_struct *mm, bool exec_stack)
{
	/* The strings, their pointers and the vector; what scripts put in front is small. */
	size_t args = bprm->used + (bprm->argc + bprm->envc) * sizeof(u64) + strlen(bprm->filename);
	unsigned long size = ALIGN(args + 4 * BINPRM_BUF_SIZE * MAX_SCRIPT_DEPTH + STACK_ROOM, PAGE_SIZE);
	unsigned long gap = clamp(rlimit(RLIMIT_STACK), MIN_STACK_GAP, TASK_SIZE / 6 * 5);
	long addr;

	/* The caller must not choose by its limit where the areas of a set-user-id program lie. */
	if (gives_rights(bprm))
		gap = MIN_STACK_GAP;
	bprm->stack_top = STACK_TOP - random_offset(bprm, STACK_RANDOM_PAGES);
	addr = do_mmap(mm, NULL, bprm->stack_top - size, size, PROT_READ | PROT_WRITE | (exec_stack ? PROT_EXEC : 0),
		       MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_GROWSDOWN, 0);
	if (addr < 0)
		return addr;
	mutex_lock(&mm->mmap_lock);
	find_vma(mm, addr)->vm_flags |= VM_STACK | VM_GROWSDOWN;
	mutex_unlock(&mm->mmap_lock);
	gap += random_offset(bprm, ELF_RANDOM_PAGES);
	mm->mmap_base = ALIGN_DOWN(bprm->stack_top - min(gap, bprm->stack_top / 6 * 5), PAGE_SIZE);
	return 0;
}

/* A free place for the image where mmap would put it. Its address, aligned as the image wants, or -errno. */
static long find_room(struct mm_struct *mm, const struct elf_image *img)
{
	unsigned long size = img->high - img->low + img->align - PAGE_SIZE;
	long addr;

	mutex_lock(&mm->mmap_lock);
	addr = get_unmapped_area(mm, 0, size);
	mutex_unlock(&mm->mmap_lock);
	return addr < 0 ? addr : (long)ALIGN((unsigned long)addr, img->align);
}

/* Does the image, with its bias, lie in memory that a program may have, with room for the stack, and is that free? */
static int check_place(struct mm_struct *mm, const struct elf_image *img)
{
	unsigned long limit = STACK_TOP - MIN_STACK_GAP, low = img->low + img->bias, size = img->high - img->low;
	bool taken;

	if (size > limit || low > limit - size || low < MMAP_MIN_ADDR || img->hdr.e_entry + img->bias >= TASK_SIZE)
		return -EINVAL;
	mutex_lock(&mm->mmap_lock);
	taken = find_vma_intersection(mm, low, low + size) != NULL;
	mutex_unlock(&mm->mmap_lock);
	return taken ? -EEXIST : 0;
}

/*
 * Choose the bias. A program with a dynamic linker goes to ELF_ET_DYN_BASE, far from what mmap places; every other
 * position-independent image goes where mmap would put it. 0, -EINVAL, -ENOMEM, -EEXIST.
 */
static int place_image(struct binprm *bprm, struct mm_struct *mm, struct elf_image *img, bool at_dyn_base)
{
	if (img->hdr.e_type == ET_DYN) {
		long base;

		if (img->align > TASK_SIZE / 8 || img->high - img->low > TASK_SIZE / 8)
			return -EINVAL;
		base = at_dyn_base ? (long)ALIGN(ELF_ET_DYN_BASE + random_offset(bprm, ELF_RANDOM_PAGES), img->align)
				   : find_room(mm, img);
		if (base < 0)
			return base;
		img->bias = base - ALIGN_DOWN(img->low, img->align);
	}
	return check_place(mm, img);
}

static unsigned segment_prot(const struct elf64_phdr *ph)
{
	return (ph->p_flags & PF_R ? PROT_READ : 0) | (ph->p_flags & PF_W ? PROT_WRITE : 0) |
	       (ph->p_flags & PF_X ? PROT_EXEC : 0);
}

/*
 * Zeros in a page that is mapped from the file. 0; -ENOMEM: there is no page for it; -EFAULT: the file has no such
 * page.
 */
static int clear_bytes(struct mm_struct *mm, unsigned long addr, int n)
{
	int err = handle_mm_fault(mm, addr, FAULT_FLAG_WRITE);

	if (!err && access_remote_vm(mm, addr, NULL, n, FAULT_FLAG_WRITE) == n)
		return 0;
	return err == -ENOMEM ? err : -EFAULT;
}

/*
 * Map the part that is in the file, and anonymous memory for the rest (bss), which can always be written, as on Linux.
 * The bss begins in the middle of the page that ends the file part. That page shows what follows in the file, so it is
 * cleared to its end, before a segment behind this one may take the whole page. 0 or -errno.
 */
static int map_segment(struct mm_struct *mm, const struct elf_image *img, const struct elf64_phdr *ph)
{
	unsigned long start = ALIGN_DOWN(ph->p_vaddr, PAGE_SIZE) + img->bias;
	unsigned long bss = ph->p_vaddr + ph->p_filesz + img->bias;
	unsigned long file_end = ph->p_filesz ? ALIGN(bss, PAGE_SIZE) : start;
	unsigned long end = ALIGN(ph->p_vaddr + ph->p_memsz, PAGE_SIZE) + img->bias;
	int rest = file_end - bss;
	long addr = 0;

	if (file_end > start)
		addr = do_mmap(mm, img->file, start, file_end - start, segment_prot(ph), MAP_PRIVATE | MAP_FIXED,
			       ph->p_offset / PAGE_SIZE);
	if (addr >= 0 && ph->p_filesz && ph->p_memsz > ph->p_filesz && ph->p_flags & PF_W && rest)
		addr = clear_bytes(mm, bss, rest);
	if (addr >= 0 && end > file_end)
		addr = do_mmap(mm, NULL, file_end, end - file_end,
			       PROT_READ | PROT_WRITE | (ph->p_flags & PF_X ? PROT_EXEC : 0),
			       MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, 0);
	return addr < 0 ? addr : 0;
}

/* In the order of the headers: a segment that overlaps one before it takes its pages, as on Linux. */
static int map_segments(struct mm_struct *mm, const struct elf_image *img)
{
	for (unsigned i = 0; i < img->hdr.e_phnum; i++) {
		int err = is_segment(&img->phdr[i]) ? map_segment(mm, img, &img->phdr[i]) : 0;

		if (err)
			return err;
	}
	return 0;
}

/* For /proc/PID/stat: the first executable segment is the code, the last other one the data. */
static void note_layout(struct mm_struct *mm, const struct elf_image *img)
{
	for (unsigned i = 0; i < img->hdr.e_phnum; i++) {
		const struct elf64_phdr *ph = &img->phdr[i];
		unsigned long start = ph->p_vaddr + img->bias, end = start + ph->p_filesz;

		if (!is_segment(ph))
			continue;
		if ((ph->p_flags & PF_X) && !mm->end_code) {
			mm->start_code = start;
			mm->end_code = end;
		} else {
			mm->start_data = start;
			mm->end_data = end;
		}
	}
}

/* The stack comes first, because mmap_base, below which areas are placed, depends on it. */
int map_program(struct binprm *bprm, struct mm_struct *mm, struct elf_image *img, struct elf_image *interp)
{
	bool alone = img->hdr.e_type == ET_DYN && !interp->file; /* its heap needs room that mmap's area has not */
	int err = map_stack(bprm, mm, img->exec_stack);

	if (!err)
		err = map_vdso(mm);
	if (!err)
		err = place_image(bprm, mm, img, interp->file);
	if (!err)
		err = map_segments(mm, img);
	if (!err && interp->file)
		err = place_image(bprm, mm, interp, false);
	if (!err && interp->file)
		err = map_segments(mm, interp);
	note_layout(mm, img);
	mm->start_brk = alone ? ALIGN(ELF_ET_DYN_BASE, PAGE_SIZE) + random_offset(bprm, ELF_RANDOM_PAGES)
			      : img->high + img->bias;
	mm->brk = mm->start_brk;
	return err;
}
