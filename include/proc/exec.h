/* Replacing the program of a process: what execve gathers, and the formats it knows. */
#pragma once

#include <lib/types.h>

struct file;
struct open_how;
struct mm_struct;

#define BINPRM_BUF_SIZE	 256
#define MAX_ARG_STRLEN	 (128UL << 10) /* bytes of one string with its zero */
#define MAX_ARG_TOTAL	 (2UL << 20)   /* of all strings and the pointers to them */
#define ARG_MAX		 (128UL << 10) /* the same, where the stack may be small */
#define MAX_ARG_PAGES	 (MAX_ARG_TOTAL / 4096)
#define MAX_SCRIPT_DEPTH 5
#define MAX_PREFIX	 (3 * MAX_SCRIPT_DEPTH)

/*
 * A program being loaded. The strings lie one behind the other in pages of their own: argv's, then envp's. In
 * front of them come those that scripts put there (prefix), which replace argv[0].
 */
struct binprm {
	char buf[BINPRM_BUF_SIZE]; /* beginning of the file, zeros behind its end */
	struct file *file;	   /* holds a reference */
	const char *filename;	   /* as the caller named it: AT_EXECFN */
	const char *interp;	   /* what is executed in the end */
	unsigned depth;		   /* scripts so far */
	char *prefix[MAX_PREFIX];  /* kmalloc'ed, in order */
	unsigned nr_prefix;
	char **page; /* MAX_ARG_PAGES pointers, the first nr_pages set */
	unsigned nr_pages;
	size_t used;		 /* bytes of strings */
	size_t limit;		 /* of them, by MAX_ARG_TOTAL and RLIMIT_STACK */
	size_t env_offset;	 /* where envp's begin */
	size_t skip;		 /* bytes of argv[0] that a script has replaced */
	unsigned argc, envc;	 /* strings in the pages (argc: with argv[0], even when skipped) */
	bool point_of_no_return; /* the old program is gone: an error is fatal now */
	bool secure;		 /* set-user-id */
	bool inaccessible;	 /* the name goes by a descriptor that the exec closes */
	bool unreadable;	 /* the user may not read the program's dynamic linker */
	bool randomize;		 /* the addresses of program and stack are random */
	u64 random[3];		 /* what they take of it; the first nr_random are used up */
	unsigned nr_random;
	unsigned long stack_top; /* where the strings end */
};

/*
 * A format of programs. load() returns 0: the process runs the program now; -ENOEXEC: the file is not of this format,
 * and the next one is asked; another error ends the search. Thread context, may sleep.
 */
struct binfmt {
	const char *name;
	int (*load)(struct binprm *bprm);
};
extern const struct binfmt elf_format, script_format;

/* Read the beginning of bprm->file and ask each format. 0, -ENOEXEC when no format knows it, or the error of one. */
int search_binary_handler(struct binprm *bprm);
/*
 * Open a file to execute it. Until close_exec() it cannot be opened for writing; -ETXTBSY if it is open for writing
 * now. ERR_PTR of that or of an open. flags: AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH.
 */
struct file *open_exec(int dfd, const char *name, int flags);
void close_exec(struct file *file);
/*
 * The point of no return: other threads end, `mm` replaces the address space, handlers, descriptors and names
 * are those of a fresh program. -EAGAIN (another exec or exit was faster, the task is about to die), -ENOMEM.
 */
int begin_new_exec(struct binprm *bprm, struct mm_struct *mm);

/* argv or envp: a list that ends with NULL, in user space or in the kernel's memory. */
struct user_strings {
	const char *const *list;
	bool kernel;
};
/* Copy both lists into pages of bprm. 0, -EFAULT, -E2BIG, -ENOMEM, -EINTR; free_arg_pages() gives the pages back. */
int copy_strings(struct binprm *bprm, struct user_strings argv, struct user_strings envp);
void free_arg_pages(struct binprm *bprm);
/*
 * Write strings, pointers and auxiliary vector (nr_auxv words) to the stack of current's new mm. *sp: the stack pointer
 * with which the program starts. 0 or -EFAULT.
 */
int setup_arg_stack(struct binprm *bprm, const u64 *auxv, unsigned nr_auxv, unsigned long *sp);
#define AUXV_MAX 44 /* words; setup_arg_stack adds four pairs */

struct file *do_filp_open(int dfd, const char *name, struct open_how how); /* kernel/fs/open.c */
