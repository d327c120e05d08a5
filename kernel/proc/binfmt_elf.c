/*
 * Static ELF64 programs, at fixed addresses (ET_EXEC) or position independent (ET_DYN). Every header field is user
 * data, so all of them are checked, and the program is mapped into a new address space, before the old program is
 * touched: errors up to there go back to the caller of execve.
 *
 *     STACK_TOP      arguments, environment; the stack grows down
 *     mmap_base      at least MIN_GAP lower; mmap places areas from here downwards
 *     ...
 *     brk            the heap, behind the image, grows up
 *     image          segments: code, constants, data, bss
 *     VDSO_BASE      code that the kernel gives to programs (vdso/)
 */
#include <arch/thread.h>
#include <asm/elf.h>
#include <asm/ptrace.h>
#include <asm/uaccess.h>
#include <fs/vfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/exec.h>
#include <proc/fork.h>
#include <proc/resource.h>
#include <proc/vdso.h>
#include <sched/current.h>
#include <uapi/elf.h>
#include <uapi/fcntl.h>
#include <uapi/mman.h>
#include <uapi/time.h>

#define MAX_PHDRS_SIZE 65536
#define STACK_ROOM     (128UL << 10) /* of stack below the arguments from the start; it grows from there */
#define MIN_GAP	       (128UL << 20) /* left for the stack to grow into, below it mmap's area */

/* What the headers say, checked. Addresses are without the bias. */
struct elf_image {
	struct elf64_hdr hdr;
	struct elf64_phdr *phdr;
	unsigned long bias;	 /* added to every address: 0 for ET_EXEC */
	unsigned long low, high; /* of all segments, page aligned */
	unsigned long align;	 /* largest p_align */
	unsigned long phdr_addr; /* of the program headers in memory, 0: not loaded */
	bool exec_stack;
};

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

/*
 * Read the table of program headers. The caller frees img->phdr, also on error. 0, -ENOMEM, -ENOEXEC for a table that
 * is cut short, or the file system's error.
 */
static int read_phdrs(struct binprm *bprm, struct elf_image *img)
{
	size_t size = img->hdr.e_phnum * sizeof(struct elf64_phdr);
	loff_t pos = img->hdr.e_phoff;
	ssize_t n;

	img->phdr = kmalloc(size, GFP_KERNEL);
	if (!img->phdr)
		return -ENOMEM;
	/* Small programs have them in what was read already. */
	if (img->hdr.e_phoff + size <= BINPRM_BUF_SIZE) {
		memcpy(img->phdr, bprm->buf + img->hdr.e_phoff, size);
		return 0;
	}
	n = kernel_read(bprm->file, img->phdr, size, &pos);
	if (n < 0)
		return n;
	return (size_t)n == size ? 0 : -ENOEXEC;
}

/*
 * One segment of the file: no sum may overflow, the file must hold the bytes, and the segment must lie behind the one
 * before. 0, -EINVAL, -ENOEXEC.
 */
static int check_segment(const struct elf64_phdr *ph, u64 file_size, const struct elf64_phdr *prev)
{
	if (ph->p_filesz > ph->p_memsz || ph->p_memsz > TASK_SIZE || ph->p_vaddr > TASK_SIZE - ph->p_memsz)
		return -EINVAL;
	if (ph->p_filesz && (ph->p_vaddr - ph->p_offset) % PAGE_SIZE)
		return -EINVAL;
	if (ph->p_filesz > file_size || ph->p_offset > file_size - ph->p_filesz)
		return -ENOEXEC;
	if (ph->p_align > 1 && !is_power_of_2(ph->p_align))
		return -EINVAL;
	if (!prev)
		return 0;
	if (ph->p_vaddr < prev->p_vaddr + prev->p_memsz)
		return -EINVAL;
	/* Two segments may share a page, which is then mapped for the second: the bss of the first would be lost. */
	if (ALIGN_DOWN(ph->p_vaddr, PAGE_SIZE) < ALIGN(prev->p_vaddr + prev->p_memsz, PAGE_SIZE) &&
	    (prev->p_memsz > prev->p_filesz || !ph->p_filesz))
		return -EINVAL;
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
	img->align = max(img->align, ph->p_align);
	if (h->e_phoff >= ph->p_offset && h->e_phoff - ph->p_offset < ph->p_filesz)
		img->phdr_addr = ph->p_vaddr + (h->e_phoff - ph->p_offset);
}

/*
 * Look at all headers before anything is mapped, so that a bad file is refused while the old program is still there.
 * 0 or -ENOEXEC.
 */
static int check_phdrs(struct elf_image *img, u64 file_size)
{
	const struct elf64_phdr *prev = NULL;

	img->low = ~0UL;
	img->align = PAGE_SIZE;
	for (unsigned i = 0; i < img->hdr.e_phnum; i++) {
		struct elf64_phdr *ph = &img->phdr[i];
		int err;

		if (ph->p_type == PT_GNU_STACK)
			img->exec_stack = ph->p_flags & PF_X;
		if (ph->p_type != PT_LOAD || !ph->p_memsz)
			continue;
		err = check_segment(ph, file_size, prev);
		if (err)
			return err;
		note_segment(img, ph);
		prev = ph;
	}
	return prev ? 0 : -ENOEXEC;
}

/*
 * A program that names an interpreter (a dynamic linker). As on Linux, an error of looking at the interpreter is the
 * answer, and -ELIBBAD if it is no program. If it is good the answer is -ENOEXEC all the same: there is no dynamic
 * linking here.
 */
static int check_interp(struct binprm *bprm, const struct elf64_phdr *ph)
{
	struct elf64_hdr hdr = {0};
	loff_t pos = ph->p_offset;
	struct file *file;
	char *name;
	int err;

	if (ph->p_filesz > PATH_MAX || ph->p_filesz < 2 || ph->p_offset > LONG_MAX - PATH_MAX)
		return -ENOEXEC;
	name = get_free_page(GFP_KERNEL);
	if (!name)
		return -ENOMEM;
	err = kernel_read(bprm->file, name, ph->p_filesz, &pos);
	if (err >= 0)
		err = err < (int)ph->p_filesz ? -EIO : name[ph->p_filesz - 1] ? -ENOEXEC : 0;
	file = err ? ERR_PTR(err) : open_exec(AT_FDCWD, name, 0);
	free_page(name);
	if (IS_ERR(file))
		return PTR_ERR(file);
	pos = 0;
	err = kernel_read(file, &hdr, sizeof(hdr), &pos);
	close_exec(file);
	if (err < 0)
		return err;
	if (err < (int)sizeof(hdr))
		return -EIO;
	return check_header(&hdr) ? -ELIBBAD : -ENOEXEC;
}

/* The first interpreter that the headers name counts. 0: they name none. */
static int check_interps(struct binprm *bprm, const struct elf_image *img)
{
	for (unsigned i = 0; i < img->hdr.e_phnum; i++)
		if (img->phdr[i].p_type == PT_INTERP)
			return check_interp(bprm, &img->phdr[i]);
	return 0;
}

/*
 * Choose where the image goes: a position-independent one to ELF_ET_DYN_BASE, rounded up to its alignment, any other
 * one to its own addresses. All of it must lie below the room for the stack. 0 or -EINVAL.
 */
static int place_image(struct elf_image *img)
{
	unsigned long limit = STACK_TOP - MIN_GAP;

	if (img->hdr.e_type == ET_DYN) {
		if (img->align > limit / 4)
			return -EINVAL;
		img->bias = ALIGN(ELF_ET_DYN_BASE, img->align) - ALIGN_DOWN(img->low, img->align);
	}
	if (img->high - img->low > limit || img->low + img->bias > limit - (img->high - img->low) ||
	    img->low + img->bias < PAGE_SIZE || img->hdr.e_entry + img->bias >= TASK_SIZE)
		return -EINVAL;
	return 0;
}

static unsigned segment_prot(const struct elf64_phdr *ph)
{
	return (ph->p_flags & PF_R ? PROT_READ : 0) | (ph->p_flags & PF_W ? PROT_WRITE : 0) |
	       (ph->p_flags & PF_X ? PROT_EXEC : 0);
}

/*
 * Map the part that is in the file, and anonymous memory for the rest (bss). The last page of the file part may hold
 * the beginning of the bss: clear_bss_starts() zeroes that. 0 or -errno.
 */
static int map_segment(struct mm_struct *mm, struct file *file, const struct elf64_phdr *ph, unsigned long bias)
{
	unsigned long start = ALIGN_DOWN(ph->p_vaddr, PAGE_SIZE) + bias;
	unsigned long file_end = ph->p_filesz ? ALIGN(ph->p_vaddr + ph->p_filesz, PAGE_SIZE) + bias : start;
	unsigned long end = ALIGN(ph->p_vaddr + ph->p_memsz, PAGE_SIZE) + bias;
	unsigned prot = segment_prot(ph);
	long addr = 0;

	if (file_end > start)
		addr = do_mmap(mm, file, start, file_end - start, prot, MAP_PRIVATE | MAP_FIXED,
			       ph->p_offset / PAGE_SIZE);
	if (addr >= 0 && end > file_end)
		addr = do_mmap(mm, NULL, file_end, end - file_end, prot, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, 0);
	return addr < 0 ? addr : 0;
}

/* For /proc/PID/stat: the first executable segment is the code, the last other one the data. */
static void note_layout(struct mm_struct *mm, const struct elf64_phdr *ph, unsigned long bias)
{
	unsigned long start = ph->p_vaddr + bias, end = start + ph->p_filesz;

	if ((ph->p_flags & PF_X) && !mm->end_code) {
		mm->start_code = start;
		mm->end_code = end;
	} else {
		mm->start_data = start;
		mm->end_data = end;
	}
}

/*
 * The stack, below STACK_TOP: its first part holds the arguments and environment and can be touched at once; the rest
 * grows by faults. Other mappings are placed below it (mmap_base), at a distance of RLIMIT_STACK within bounds. 0 or
 * -errno.
 */
static int map_stack(struct binprm *bprm, struct mm_struct *mm, bool exec_stack)
{
	/* The strings, their pointers and the vector; what scripts put in front is small. */
	size_t args = bprm->used + (bprm->argc + bprm->envc) * sizeof(u64) + strlen(bprm->filename);
	unsigned long size = ALIGN(args + 4 * BINPRM_BUF_SIZE * MAX_SCRIPT_DEPTH + STACK_ROOM, PAGE_SIZE);
	unsigned long gap = clamp(rlimit(RLIMIT_STACK), MIN_GAP, TASK_SIZE / 6 * 5);
	long addr;

	/* The caller must not choose by its limit where the areas of a set-user-id program lie. */
	if (bprm->file->f_inode->i_mode & (S_ISUID | S_ISGID))
		gap = MIN_GAP;
	addr = do_mmap(mm, NULL, STACK_TOP - size, size, PROT_READ | PROT_WRITE | (exec_stack ? PROT_EXEC : 0),
		       MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS | MAP_GROWSDOWN, 0);
	if (addr < 0)
		return addr;
	mutex_lock(&mm->mmap_lock);
	find_vma(mm, addr)->vm_flags |= VM_STACK | VM_GROWSDOWN;
	mutex_unlock(&mm->mmap_lock);
	mm->mmap_base = ALIGN_DOWN(STACK_TOP - gap, PAGE_SIZE);
	return 0;
}

/*
 * All segments, then what a program has besides: the heap behind the image, the stack, the vDSO. No
 * task uses the address space yet, so no lock is needed for its fields. 0 or -errno.
 */
static int map_image(struct binprm *bprm, struct mm_struct *mm, const struct elf_image *img)
{
	int err;

	for (unsigned i = 0; i < img->hdr.e_phnum; i++) {
		const struct elf64_phdr *ph = &img->phdr[i];

		if (ph->p_type != PT_LOAD || !ph->p_memsz)
			continue;
		err = map_segment(mm, bprm->file, ph, img->bias);
		if (err)
			return err;
		note_layout(mm, ph, img->bias);
	}
	mm->start_brk = mm->brk = img->high + img->bias;
	err = map_stack(bprm, mm, img->exec_stack);
	return err ? err : map_vdso(mm);
}

/*
 * Where a segment is longer in memory than in the file, its bss begins in the middle of the page that ends the file
 * part, and that page shows what follows in the file: zero it to its end. This writes to user memory, so it has to
 * wait until the mm is current's. 0 or -EFAULT.
 */
static int clear_bss_starts(const struct elf_image *img)
{
	for (unsigned i = 0; i < img->hdr.e_phnum; i++) {
		const struct elf64_phdr *ph = &img->phdr[i];
		unsigned long end = ph->p_vaddr + ph->p_filesz + img->bias;
		unsigned long rest = ALIGN(end, PAGE_SIZE) - end;

		if (ph->p_type != PT_LOAD || !ph->p_filesz || !(ph->p_flags & PF_W) || ph->p_memsz == ph->p_filesz)
			continue;
		if (rest && clear_user((void __user *)end, rest))
			return -EFAULT;
	}
	return 0;
}

/*
 * The auxiliary vector: what a C library's start code needs to know of machine, program and user before it can make a
 * system call. Gives how many words there are; AT_RANDOM and the strings come later (setup_arg_stack).
 */
static unsigned fill_auxv(u64 *auxv, struct binprm *bprm, const struct elf_image *img)
{
	u64 values[][2] = {
		{AT_SYSINFO_EHDR, VDSO_BASE},
		{AT_HWCAP, ELF_HWCAP},
		{AT_PAGESZ, PAGE_SIZE},
		{AT_CLKTCK, USER_HZ},
		{AT_PHDR, img->phdr_addr ? img->phdr_addr + img->bias : 0},
		{AT_PHENT, sizeof(struct elf64_phdr)},
		{AT_PHNUM, img->hdr.e_phnum},
		{AT_BASE, 0},
		{AT_FLAGS, 0},
		{AT_ENTRY, img->hdr.e_entry + img->bias},
		{AT_UID, current->uid},
		{AT_EUID, current->euid},
		{AT_GID, current->gid},
		{AT_EGID, current->egid},
		{AT_SECURE, bprm->secure},
	};

	static_assert(sizeof(values) / sizeof(u64) <= AUXV_MAX);
	memcpy(auxv, values, sizeof(values));
	return sizeof(values) / sizeof(u64);
}

/*
 * Behind the point of no return: fill in the new memory, and set the registers with which the task returns to user
 * mode, at the program's entry. An error kills the process.
 */
static int start_program(struct binprm *bprm, const struct elf_image *img)
{
	u64 auxv[AUXV_MAX];
	unsigned long sp;
	int err = clear_bss_starts(img);

	if (!err)
		err = setup_arg_stack(bprm, auxv, fill_auxv(auxv, bprm, img), &sp);
	if (err)
		return err;
	arch_flush_thread(current);
	arch_start_thread(task_pt_regs(current), img->hdr.e_entry + img->bias, sp);
	return 0;
}

/*
 * The loader (struct binfmt). Everything that can be refused is refused before begin_new_exec(), the point of no
 * return. Thread context; 0 or -errno, -ENOEXEC when the file is no ELF program for this machine.
 */
static int load_elf(struct binprm *bprm)
{
	struct elf_image img = {0};
	struct mm_struct *mm;
	int err;

	memcpy(&img.hdr, bprm->buf, sizeof(img.hdr));
	err = check_header(&img.hdr);
	if (err)
		return err;
	err = read_phdrs(bprm, &img);
	if (!err)
		err = check_interps(bprm, &img);
	if (!err)
		err = check_phdrs(&img, bprm->file->f_inode->i_size);
	if (!err)
		err = place_image(&img);
	if (err)
		goto free_phdrs;
	err = -ENOMEM;
	mm = mm_alloc();
	if (!mm)
		goto free_phdrs;
	set_mm_exe_file(mm, bprm->file);
	err = map_image(bprm, mm, &img);
	if (!err)
		err = begin_new_exec(bprm, mm); /* from here on mm is current's */
	if (!err)
		err = start_program(bprm, &img);
	else
		mmput(mm);
free_phdrs:
	kfree(img.phdr);
	return err;
}

const struct binfmt elf_format = {"elf", load_elf};
