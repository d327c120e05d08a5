/*
 * Arguments and environment of a new program. They are copied in two steps, because the old address space, where they
 * come from, and the new one, where they go to, never exist at the same time: copy_strings() takes them into pages of
 * the kernel before the point of no return, setup_arg_stack() writes them onto the new stack after it.
 *
 * In the pages the strings lie one behind the other, argv's and then envp's; bprm->used is where the next byte goes.
 * No locks: the pages belong to this exec alone. User memory is read and written here, so all of it may sleep.
 */
#include <asm/elf.h>
#include <asm/uaccess.h>
#include <kernel/random.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <proc/exec.h>
#include <proc/resource.h>
#include <sched/current.h>
#include <uapi/elf.h>

/* Append an empty page to the pages of strings. 0, -E2BIG when the most that an exec may have is reached, -ENOMEM. */
static int add_arg_page(struct binprm *bprm)
{
	char *page;

	if (bprm->nr_pages >= MAX_ARG_PAGES)
		return -E2BIG;
	page = get_free_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	bprm->page[bprm->nr_pages++] = page;
	return 0;
}

/*
 * Copy a string up to its zero, but n bytes at most, from user space or (kernel_execve) from the kernel. As
 * strncpy_from_user(): the length without the zero, n when the string goes on, or -EFAULT.
 */
static long copy_piece(char *to, const char *from, long n, bool kernel)
{
	size_t len;

	if (!kernel)
		return strncpy_from_user(to, from, n);
	len = strnlen(from, n);
	memcpy(to, from, len < n ? len + 1 : n);
	return len;
}

/*
 * Append one string with its zero to the pages, in pieces that end with a page or with the string. Another thread may
 * change the string while we copy it, so its length is not asked for beforehand: what was copied is what counts. 0,
 * -EFAULT, -E2BIG, -ENOMEM.
 */
static int copy_string(struct binprm *bprm, const char *str, bool kernel)
{
	size_t total = 0;

	for (;;) {
		size_t at = bprm->used % PAGE_SIZE, room = PAGE_SIZE - at;
		long n;
		int err;

		if (!at) {
			err = add_arg_page(bprm);
			if (err)
				return err;
		}
		n = copy_piece(bprm->page[bprm->nr_pages - 1] + at, str + total, room, kernel);
		if (n < 0)
			return n;
		total += n;
		bprm->used += n;
		if (total >= MAX_ARG_STRLEN || bprm->used >= bprm->limit)
			return -E2BIG;
		if (n < room) {
			bprm->used++; /* the zero */
			return 0;
		}
	}
}

/*
 * Append all strings of a list that ends with NULL. The pointers will lie on the new stack too, so each one is taken
 * off the limit: without that, a million empty strings would pass as a few bytes. Returns the number of strings, or
 * -EFAULT, -E2BIG, -ENOMEM, and -EINTR when a fatal signal came.
 */
static int copy_list(struct binprm *bprm, struct user_strings strings)
{
	int n, err;

	if (!strings.list)
		return 0;
	for (n = 0;; n++) {
		const char *str;

		if (strings.kernel)
			str = strings.list[n];
		else if (get_user(str, &strings.list[n]))
			return -EFAULT;
		if (!str)
			return n;
		if (bprm->limit <= bprm->used + sizeof(str))
			return -E2BIG;
		bprm->limit -= sizeof(str);
		err = copy_string(bprm, str, strings.kernel);
		if (err)
			return err;
		if ((n & 63) == 63 && fatal_signal_pending(current))
			return -EINTR; /* a list of many strings takes long; SIGKILL must not wait for it */
	}
}

/*
 * Linux lets arguments and environment together fill a quarter of RLIMIT_STACK, so that a program always starts with
 * most of its stack free; but 128 KiB at least, which programs may rely on (ARG_MAX). Returns 0, or -errno with the
 * pages that free_bprm() gives back.
 */
int copy_strings(struct binprm *bprm, struct user_strings argv, struct user_strings envp)
{
	int n;

	bprm->limit = clamp((unsigned long)rlimit(RLIMIT_STACK) / 4, ARG_MAX, MAX_ARG_TOTAL);
	bprm->page = get_free_page(GFP_KERNEL);
	if (!bprm->page)
		return -ENOMEM;
	n = copy_list(bprm, argv);
	if (n < 0)
		return n;
	if (!n) { /* Linux since 5.18: there is always an argv[0], many programs rely on it */
		n = copy_string(bprm, "", true);
		if (n)
			return n;
		n = 1;
	}
	bprm->argc = n;
	bprm->env_offset = bprm->used;
	n = copy_list(bprm, envp);
	if (n < 0)
		return n;
	bprm->envc = n;
	return 0;
}

void free_arg_pages(struct binprm *bprm)
{
	for (unsigned i = 0; i < bprm->nr_pages; i++)
		free_page(bprm->page[i]);
	free_page(bprm->page);
}

/*
 * Writes words to ascending user addresses. The words are gathered in a buffer, because copy_to_user() for each of
 * some hundred words would cost more than the words.
 */
struct word_writer {
	unsigned long addr;
	unsigned n;
	int err;
	u64 word[64];
};

/* An error is kept in w->err, so that the caller looks at it once, at the end. */
static void flush_words(struct word_writer *w)
{
	if (w->n && copy_to_user((void __user *)w->addr, w->word, w->n * sizeof(u64)))
		w->err = -EFAULT;
	w->addr += w->n * sizeof(u64);
	w->n = 0;
}

static __always_inline void put_word(struct word_writer *w, u64 v)
{
	if (w->n == ARRAY_SIZE(w->word))
		flush_words(w);
	w->word[w->n++] = v;
}

/*
 * The size, with its zero, of the string that starts at `offset` of the pages; it may go over the ends of several
 * pages.
 */
static size_t string_size(struct binprm *bprm, size_t offset)
{
	size_t size = 0;

	for (;;) {
		size_t at = offset % PAGE_SIZE, n = strnlen(bprm->page[offset / PAGE_SIZE] + at, PAGE_SIZE - at);

		size += n;
		offset += n;
		if (n < PAGE_SIZE - at)
			return size + 1;
	}
}

/* Copy the strings from byte `from` of the pages on to user address `to`. 0 or -EFAULT. */
static int write_pages(struct binprm *bprm, unsigned long to, size_t from)
{
	while (from < bprm->used) {
		size_t at = from % PAGE_SIZE, n = min(PAGE_SIZE - at, bprm->used - from);

		if (copy_to_user((void __user *)to, bprm->page[from / PAGE_SIZE] + at, n))
			return -EFAULT;
		to += n;
		from += n;
	}
	return 0;
}

/* Bytes of the strings that scripts have put in front of argv, with their zeros. */
static size_t prefix_size(struct binprm *bprm)
{
	size_t size = 0;

	for (unsigned i = 0; i < bprm->nr_prefix; i++)
		size += strlen(bprm->prefix[i]) + 1;
	return size;
}

/*
 * Write all strings: those of scripts, argv and envp from mm->arg_start upwards, and the file name at mm->env_end.
 * Two writes copy argv and envp together, since they lie together in the pages. 0 or -EFAULT.
 */
static int write_strings(struct binprm *bprm, struct mm_struct *mm)
{
	unsigned long to = mm->arg_start;

	for (unsigned i = 0; i < bprm->nr_prefix; i++) {
		size_t n = strlen(bprm->prefix[i]) + 1;

		if (copy_to_user((void __user *)to, bprm->prefix[i], n))
			return -EFAULT;
		to += n;
	}
	if (write_pages(bprm, to, bprm->skip))
		return -EFAULT;
	return copy_to_user((void __user *)mm->env_end, bprm->filename, strlen(bprm->filename) + 1) ? -EFAULT : 0;
}

/*
 * Write argc and the two lists of pointers, each ended by NULL. The strings lie in the order of the pointers, so each
 * address is the one before plus the size of that string. bprm->skip hides an argv[0] that a script has replaced.
 */
static void put_pointers(struct word_writer *w, struct binprm *bprm, struct mm_struct *mm)
{
	unsigned long at = mm->arg_start;
	unsigned skipped = bprm->skip ? 1 : 0;
	size_t offset = bprm->skip;

	put_word(w, bprm->nr_prefix + bprm->argc - skipped);
	for (unsigned i = 0; i < bprm->nr_prefix; i++) {
		put_word(w, at);
		at += strlen(bprm->prefix[i]) + 1;
	}
	for (unsigned i = skipped; i < bprm->argc + bprm->envc; i++) {
		size_t size = string_size(bprm, offset);

		if (i == bprm->argc)
			put_word(w, 0);
		put_word(w, at);
		at += size;
		offset += size;
	}
	if (!bprm->envc)
		put_word(w, 0);
	put_word(w, 0);
}

/* Keep the whole auxiliary vector for /proc/<pid>/auxv. The copy on the stack is the program's own and may change. */
static void save_auxv(struct mm_struct *mm, const u64 *auxv, unsigned n, unsigned long platform, unsigned long random)
{
	const u64 more[] = {AT_PLATFORM, platform, AT_RANDOM, random, AT_EXECFN, mm->env_end, AT_NULL, 0};

	static_assert(AUXV_MAX + ARRAY_SIZE(more) <= SAVED_AUXV_MAX);
	memcpy(mm->saved_auxv, auxv, n * sizeof(u64));
	memcpy(mm->saved_auxv + n, more, sizeof(more));
	mm->nr_auxv = n + ARRAY_SIZE(more);
}

/*
 * The first stack of a program, as the System V ABI wants it (gABI, chapter 3), from high to low addresses:
 *
 *     stack_top     a word of zeros
 *                   path of the program (AT_EXECFN)      mm->env_end
 *                   strings of envp                      mm->env_start
 *                   strings of argv                      mm->arg_start
 *                   name of the machine (AT_PLATFORM)
 *                   16 random bytes (AT_RANDOM)
 *                   auxiliary vector, ends with AT_NULL
 *                   pointers of envp, NULL
 *                   pointers of argv, NULL
 *     *sp           argc                                 16-byte aligned
 *
 * All sizes are known, so *sp is found first and the vectors are written upwards. The memory is current's and may
 * fault. Returns 0 or -EFAULT.
 */
int setup_arg_stack(struct binprm *bprm, const u64 *auxv, unsigned nr_auxv, unsigned long *sp)
{
	struct mm_struct *mm = current->mm;
	size_t prefix = prefix_size(bprm), name = strlen(bprm->filename) + 1;
	unsigned long random_at, platform_at;
	struct word_writer w = {0};
	u8 random[16];
	size_t words;

	/* From the top: a zero word, the strings, the platform's name, 16 random bytes, the vectors. */
	mm->env_end = bprm->stack_top - 8 - name;
	mm->env_start = mm->env_end - (bprm->used - bprm->env_offset);
	mm->arg_end = mm->env_start;
	mm->arg_start = mm->arg_end - (bprm->env_offset - bprm->skip) - prefix;
	platform_at = mm->arg_start - sizeof(ELF_PLATFORM);
	random_at = ALIGN_DOWN(platform_at - sizeof(random), 16);
	words = 1 + bprm->nr_prefix + bprm->argc - !!bprm->skip + 1 + bprm->envc + 1 + nr_auxv + 8;
	*sp = ALIGN_DOWN(random_at - words * sizeof(u64), 16);
	mm->start_stack = *sp;
	get_random_bytes(random, sizeof(random));
	if (write_strings(bprm, mm) || copy_to_user((void __user *)platform_at, ELF_PLATFORM, sizeof(ELF_PLATFORM)) ||
	    copy_to_user((void __user *)random_at, random, sizeof(random)))
		return -EFAULT;
	w.addr = *sp;
	put_pointers(&w, bprm, mm);
	save_auxv(mm, auxv, nr_auxv, platform_at, random_at);
	for (unsigned i = 0; i < mm->nr_auxv; i++)
		put_word(&w, mm->saved_auxv[i]);
	flush_words(&w);
	return w.err;
}
