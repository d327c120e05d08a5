/*
 * Becoming another program, and saying why when that cannot be.
 *
 * The kernel's answer is one number for many reasons: ENOENT stands for a program that is missing and for one
 * whose interpreter is, ENOEXEC for a script without "#!", a broken file and one for another machine. The
 * shell looks into the file and names the reason.
 */
#include "sh.h"
#include <sys/stat.h>
#include <uapi/elf.h>

/* What of an ELF64 file is looked at (System V gABI, chapters 4 and 5). */
struct elf_header {
	unsigned char ident[16];
	uint16_t type, machine;
	uint32_t version;
	uint64_t entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, paddr, filesz, memsz, align;
};

#define ELF_MAGIC "\177ELF"

/* What is known of a file that the kernel does not run. */
struct program {
	char *data; /* all of it */
	size_t size;
};

/* n bytes at `at`, or NULL where the file does not have them. */
static const void *part(const struct program *p, uint64_t at, uint64_t n)
{
	return at <= p->size && n <= p->size - at ? p->data + at : NULL;
}

static bool is_elf(const struct program *p)
{
	return p->size >= 4 && !memcmp(p->data, ELF_MAGIC, 4);
}

/* The interpreter that an ELF file or the first line of a script names, in sh.temp; NULL when it names none.
 */
static char *interpreter(const struct program *p)
{
	const struct elf_header *h = part(p, 0, sizeof(*h));
	const struct elf_segment *s;

	if (p->size > 2 && !memcmp(p->data, "#!", 2)) {
		const char *from = p->data + 2 + strspn(p->data + 2, " \t");

		return arena_copy(&sh.temp, from, strcspn(from, " \t\r\n"));
	}
	for (unsigned i = 0; is_elf(p) && h && i < h->phnum; i++) {
		s = part(p, h->phoff + (uint64_t)i * h->phentsize, sizeof(*s));
		if (s && s->type == PT_INTERP && part(p, s->offset, s->filesz))
			return arena_copy(&sh.temp, p->data + s->offset, strnlen(p->data + s->offset, s->filesz));
	}
	return NULL;
}

/*
 * Whether an ELF file is for another machine. The head of this shell's own file says which machine
 * programs must be for.
 */
static bool is_foreign(const struct program *p)
{
	struct elf_header own = {0};
	const struct elf_header *h = part(p, 0, sizeof(*h));
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool known = fd >= 0 && vt_read(fd, &own, sizeof(own)) == (ssize_t)sizeof(own);

	if (fd >= 0)
		close(fd);
	return known && h && h->machine != own.machine;
}

/* Text is a script; a zero byte near the beginning is in no text. */
static bool is_text(const struct program *p)
{
	return !memchr(p->data, '\0', p->size < 512 ? p->size : 512);
}

/* It runs in this process, which has forgotten its own state. */
static void run_script(char *path, char **argv, char *text) __attribute__((noreturn));
static void run_script(char *path, char **argv, char *text)
{
	exec_child();
	sh.loops = sh.functions = 0;
	sh.arg0 = path;
	sh_set_params(argv + 1);
	sh_exit(exec_string(text));
}

/*
 * The file at path is there, but execve() has failed with err. POSIX has the shell run a file without a magic
 * number that the kernel knows as a script of its own; anything else ends here, with the reason.
 */
static void refuse(char *path, char **argv, int err) __attribute__((noreturn));
/*
 * exec has failed: run the file as a script where that is meant, else say why not. Statuses are POSIX's: 127 for not
 * found, 126 for cannot be executed.
 */
static void refuse(char *path, char **argv, int err)
{
	struct program p = {0};
	struct stat st;
	char *wanted = NULL;

	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && (err == ENOEXEC || err == ENOENT))
		p.data = vt_read_file(path, &p.size);
	if (p.data)
		wanted = interpreter(&p);
	/* Tutorials' scripts begin so, and most are plain sh; what is not is refused by name (foreign.c). */
	if (wanted && access(wanted, F_OK) < 0 && !is_elf(&p) && !strcmp(vt_basename(wanted), "bash"))
		run_script(path, argv, p.data);
	if (wanted && access(wanted, F_OK) < 0) {
		vt_warn("%s: no such interpreter: %s", argv[0], wanted);
		sh_exit(127);
	}
	if (err == ENOEXEC && p.data && !is_elf(&p) && is_text(&p))
		run_script(path, argv, p.data);
	if (err == ENOEXEC && p.data)
		vt_warn("%s: cannot execute binary file%s", argv[0],
			is_elf(&p) && is_foreign(&p) ? ": it is for another machine" : "");
	else
		vt_warn("%s: %s", argv[0], err == ENOENT ? "not found" : strerror(err));
	sh_exit(err == ENOENT ? 127 : 126);
}

/* The two statuses, 127 and 126, are POSIX's: not found, and found but not to be run. */
void exec_replace(char **argv)
{
	char *path = vt_which(argv[0]);

	if (!path) {
		vt_warn("%s: not found", argv[0]);
		sh_exit(127);
	}
	/* What an interactive shell ignores would stay ignored in the program. */
	job_default_signals();
	execve(path, argv, var_environment(&sh.temp));
	refuse(path, argv, errno);
}
