/*
 * ELF64 programs: at fixed addresses (ET_EXEC) or position independent (ET_DYN), by themselves or with a dynamic
 * linker, which the header PT_INTERP names. Every header field is user data, so all of them are checked, and the
 * program is mapped into a new address space (elf_map.c), before the old program is touched: errors up to there go
 * back to the caller of execve.
 *
 * The dynamic linker is mapped beside the program and started in its place. It finds the program by the auxiliary
 * vector. If the dynamic linker itself names a dynamic linker, that has no effect, so such names cannot form a loop.
 */
#include "elf_image.h"

#include <arch/signal.h>
#include <arch/thread.h>
#include <asm/elf.h>
#include <asm/ptrace.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/fork.h>
#include <proc/task_part.h>
#include <proc/vdso.h>
#include <sched/current.h>
#include <uapi/fcntl.h>
#include <uapi/signal.h>
#include <uapi/time.h>

#define MAX_PHDRS_SIZE 65536

/* Is it an ELF file of 64 bits for this machine, with a table of program headers of a sensible size? 0 or -ENOEXEC. */
static int check_header(const struct elf64_hdr *h)
{
	if (memcmp(h->e_ident, ELFMAG, SELFMAG))
		return -ENOEXEC;
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    h->e_ident[EI_VERSION] != EV_CURRENT || h->e_version != EV_CURRENT)
		return -ENOEXEC;
	if ((h->e_type != ET_EXEC && h->e_type != ET_DYN) || h->e_machine != ELF_MACHINE)
		return -ENOEXEC;
	if (h->e_phentsize != sizeof(struct elf64_phdr) || !h->e_phnum ||
	    h->e_phnum > MAX_PHDRS_SIZE / sizeof(struct elf64_phdr))
		return -ENOEXEC;
	return h->e_phoff > LONG_MAX - MAX_PHDRS_SIZE ? -ENOEXEC : 0;
}

/* Read the table of program headers. 0, -ENOMEM, -ENOEXEC for one that is cut short, or the file system's error. */
static int read_phdrs(struct elf_image *img)
{
	size_t size = img->hdr.e_phnum * sizeof(struct elf64_phdr);
	loff_t pos = img->hdr.e_phoff;
	ssize_t n;

	img->phdr = kmalloc(size, GFP_KERNEL);
	if (!img->phdr)
		return -ENOMEM;
	n = kernel_read(img->file, img->phdr, size, &pos);
	if (n < 0)
		return n;
	return (size_t)n == size ? 0 : -ENOEXEC;
}

/*
 * One segment: no sum may overflow, and the file must hold the bytes. Linux refuses the latter only where a page that
 * is lacking is touched. 0, -EINVAL, -ENOEXEC.
 */
static int check_segment(const struct elf64_phdr *ph, u64 file_size)
{
	if (ph->p_filesz > ph->p_memsz || ph->p_memsz > TASK_SIZE || ph->p_vaddr > TASK_SIZE - ph->p_memsz)
		return -EINVAL;
	if (ph->p_filesz && (ph->p_vaddr - ph->p_offset) % PAGE_SIZE)
		return -EINVAL;
	if (ph->p_filesz > file_size || ph->p_offset > file_size - ph->p_filesz)
		return -ENOEXEC;
	return 0;
}

/*
 * What all segments together say: from where to where the image reaches, the largest alignment, and at which address
 * the program headers can be read by the program itself (AT_PHDR), if a segment has them.
 */
static void note_segment(struct elf_image *img, const struct elf64_phdr *ph)
{
	const struct elf64_hdr *h = &img->hdr;

	img->low = min(img->low, ALIGN_DOWN(ph->p_vaddr, PAGE_SIZE));
	img->high = max(img->high, ALIGN(ph->p_vaddr + ph->p_memsz, PAGE_SIZE));
	if (is_power_of_2(ph->p_align)) /* another one says nothing, as on Linux */
		img->align = max(img->align, ph->p_align);
	if (h->e_phoff >= ph->p_offset && h->e_phoff - ph->p_offset < ph->p_filesz)
		img->phdr_addr = ph->p_vaddr + (h->e_phoff - ph->p_offset);
}

/*
 * Look at all headers before anything is mapped, so that a bad file is refused while the old program is still there.
 * 0, -EINVAL or -ENOEXEC.
 */
static int check_phdrs(struct elf_image *img)
{
	u64 file_size = i_size_read(img->file->f_inode);

	img->low = ~0UL;
	img->align = PAGE_SIZE;
	for (unsigned i = 0; i < img->hdr.e_phnum; i++) {
		const struct elf64_phdr *ph = &img->phdr[i];
		int err;

		if (ph->p_type == PT_GNU_STACK)
			img->exec_stack = ph->p_flags & PF_X;
		if (!is_segment(ph))
			continue;
		err = check_segment(ph, file_size);
		if (err)
			return err;
		note_segment(img, ph);
	}
	return img->high ? 0 : -ENOEXEC;
}

/* Open the file that the header names. ERR_PTR: -ENOEXEC for a name that is none, -EIO, -ENOMEM, the open's errors. */
static struct file *open_interp(struct binprm *bprm, const struct elf64_phdr *ph)
{
	loff_t pos = ph->p_offset;
	struct file *file;
	char *name;
	int err;

	if (ph->p_filesz > PATH_MAX || ph->p_filesz < 2 || ph->p_offset > LONG_MAX - PATH_MAX)
		return ERR_PTR(-ENOEXEC);
	name = get_free_page(GFP_KERNEL);
	if (!name)
		return ERR_PTR(-ENOMEM);
	err = kernel_read(bprm->file, name, ph->p_filesz, &pos);
	if (err >= 0)
		err = err < (int)ph->p_filesz ? -EIO : name[ph->p_filesz - 1] ? -ENOEXEC : 0;
	file = err ? ERR_PTR(err) : open_exec(AT_FDCWD, name, 0);
	free_page(name);
	return file;
}

/*
 * The dynamic linker, if the headers name one: the first name counts. As on Linux, an error in opening or reading its
 * file is returned, and -ELIBBAD if it is no program. If the user cannot read the dynamic linker, the process is closed
 * to the user just as if the program itself could not be read. The caller closes interp->file, also on error.
 */
static int read_interp(struct binprm *bprm, const struct elf_image *img, struct elf_image *interp)
{
	const struct elf64_phdr *ph = img->phdr, *end = ph + img->hdr.e_phnum;
	loff_t pos = 0;
	int n;

	while (ph < end && ph->p_type != PT_INTERP)
		ph++;
	if (ph == end)
		return 0;
	interp->file = open_interp(bprm, ph);
	if (IS_ERR(interp->file)) {
		n = PTR_ERR(interp->file);
		interp->file = NULL;
		return n;
	}
	bprm->unreadable = inode_permission(interp->file->f_inode, MAY_READ);
	n = kernel_read(interp->file, &interp->hdr, sizeof(interp->hdr), &pos);
	if (n < (int)sizeof(interp->hdr))
		return n < 0 ? n : -EIO;
	if (check_header(&interp->hdr))
		return -ELIBBAD;
	n = read_phdrs(interp);
	if (!n)
		n = check_phdrs(interp);
	return n == -ENOEXEC ? -ELIBBAD : n;
}

/*
 * The auxiliary vector: what a C library's start code needs to know of machine, program and user before it can make a
 * system call. Gives how many words there are; AT_RANDOM and the strings come later (setup_arg_stack).
 */
static unsigned fill_auxv(u64 *auxv, struct binprm *bprm, const struct elf_image *img, const struct elf_image *interp)
{
	unsigned long sigstack = max(arch_min_sigstack(), (unsigned long)MINSIGSTKSZ); /* sigaltstack(2) takes it */
	u64 values[][2] = {
		{AT_SYSINFO_EHDR, VDSO_BASE},
		{AT_MINSIGSTKSZ, sigstack},
		{AT_HWCAP, ELF_HWCAP},
		{AT_PAGESZ, PAGE_SIZE},
		{AT_CLKTCK, USER_HZ},
		{AT_PHDR, img->phdr_addr ? img->phdr_addr + img->bias : 0},
		{AT_PHENT, sizeof(struct elf64_phdr)},
		{AT_PHNUM, img->hdr.e_phnum},
		{AT_BASE, interp->bias},
		{AT_FLAGS, 0},
		{AT_ENTRY, img->hdr.e_entry + img->bias},
		{AT_UID, current->uid},
		{AT_EUID, current->euid},
		{AT_GID, current->gid},
		{AT_EGID, current->egid},
		{AT_SECURE, bprm->secure},
		{AT_HWCAP2, ELF_HWCAP2},
	};

	static_assert(sizeof(values) / sizeof(u64) <= AUXV_MAX);
	memcpy(auxv, values, sizeof(values));
	return task_parts_auxv(auxv, sizeof(values) / sizeof(u64), AUXV_MAX);
}

/*
 * Behind the point of no return: fill in the new stack, and set the registers with which the task returns to user mode,
 * at the entry of the dynamic linker or the program. An error kills the process.
 */
static int start_program(struct binprm *bprm, const struct elf_image *img, const struct elf_image *interp)
{
	const struct elf_image *first = interp->file ? interp : img;
	u64 auxv[AUXV_MAX];
	unsigned long sp;
	int err = setup_arg_stack(bprm, auxv, fill_auxv(auxv, bprm, img, interp), &sp);

	if (err)
		return err;
	arch_flush_thread(current);
	arch_start_thread(task_pt_regs(current), first->hdr.e_entry + first->bias, sp);
	return 0;
}

/*
 * A new address space for the program, which becomes current's. An error before the point of no return drops it; one
 * behind that leaves it to the process, which dies.
 */
static int exec_images(struct binprm *bprm, struct elf_image *img, struct elf_image *interp)
{
	struct mm_struct *mm = mm_alloc();
	int err;

	if (!mm)
		return -ENOMEM;
	set_mm_exe_file(mm, bprm->file);
	choose_randomness(bprm, img);
	err = map_program(bprm, mm, img, interp);
	if (!err)
		err = begin_new_exec(bprm, mm); /* from here on mm is current's */
	if (err) {
		mmput(mm);
		return err;
	}
	return start_program(bprm, img, interp);
}

/*
 * The loader (struct binfmt). Everything that can be refused is refused before begin_new_exec(), the point of no
 * return; where Linux kills the process for a bad segment, execve returns an error here. Thread context; 0 or -errno,
 * -ENOEXEC when the file is no ELF program for this machine.
 */
static int load_elf(struct binprm *bprm)
{
	struct elf_image img = {.file = bprm->file}, interp = {0};
	int err;

	memcpy(&img.hdr, bprm->buf, sizeof(img.hdr));
	err = check_header(&img.hdr);
	if (!err)
		err = read_phdrs(&img);
	if (!err)
		err = read_interp(bprm, &img, &interp);
	if (!err)
		err = check_phdrs(&img);
	if (!err)
		err = exec_images(bprm, &img, &interp);
	if (interp.file)
		close_exec(interp.file);
	kfree(interp.phdr);
	kfree(img.phdr);
	return err;
}

const struct binfmt elf_format = {"elf", load_elf};
