/*
 * Names of functions of programs, from the symbol tables of their ELF files (System V ABI, chapter 4; 64 bits, this
 * machine's byte order). A program is known by its file's name, of which the kernel keeps the first 15 characters as
 * the name of its tasks.
 */
#include "vtrace.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#define COMM_LEN 15

struct function {
	uint64_t from, to;
	const char *name;
};

static struct program {
	struct program *next;
	char comm[COMM_LEN + 1];
	struct function *functions; /* ascending */
	size_t count;
} * programs;

static int by_address(const void *a, const void *b)
{
	const struct function *f = a, *g = b;

	return f->from < g->from ? -1 : f->from > g->from;
}

/* Is what the file says to lie there inside of it? */
static bool inside(uint64_t at, uint64_t bytes, uint64_t size)
{
	return at <= size && bytes <= size - at;
}

/* A section of the file with all that it holds, or the end of the program. */
static const Elf64_Shdr *section(const char *image, size_t size, size_t number, const char *path)
{
	const Elf64_Ehdr *head = (const void *)image;
	const Elf64_Shdr *s = (const void *)(image + head->e_shoff);

	if (number >= head->e_shnum || !inside(s[number].sh_offset, s[number].sh_size, size))
		die("%s: a broken ELF file", path);
	return &s[number];
}

/* The functions of a table of symbols, whose names are in the section that it links to. */
static void add_functions(struct program *p, const char *image, size_t size, const Elf64_Shdr *table, const char *path)
{
	const Elf64_Shdr *texts = section(image, size, table->sh_link, path);
	const Elf64_Sym *symbols = (const void *)(image + table->sh_offset);
	const char *text = image + texts->sh_offset;

	if (!texts->sh_size || text[texts->sh_size - 1])
		die("%s: a broken ELF file", path);
	p->functions = get_memory(NULL, table->sh_size / sizeof(*symbols) * sizeof(*p->functions) + 1);
	for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++) {
		const Elf64_Sym *s = &symbols[i];

		if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx && s->st_name < texts->sh_size)
			p->functions[p->count++] =
				(struct function){s->st_value, s->st_value + (s->st_size ? s->st_size : 1),
						  intern(text + s->st_name, NULL)};
	}
	qsort(p->functions, p->count, sizeof(*p->functions), by_address);
}

/*
 * Read the functions of a program from its table of symbols. Every offset of the file is looked at before it is
 * followed. Whatever is wrong ends the program.
 */
void elf_add(const char *path)
{
	const char *name = strrchr(path, '/');
	struct program *p = get_memory(NULL, sizeof(*p));
	const Elf64_Ehdr *head;
	struct stat st;
	const char *image;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		die("%s cannot be read", path);
	image = st.st_size < (off_t)sizeof(*head) ? MAP_FAILED : mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (image == MAP_FAILED || memcmp(image, ELFMAG, SELFMAG) || image[EI_CLASS] != ELFCLASS64)
		die("%s is no ELF file of 64 bits", path);
	head = (const void *)image;
	if (head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shoff % 8 ||
	    !inside(head->e_shoff, head->e_shnum * sizeof(Elf64_Shdr), st.st_size))
		die("%s: a broken ELF file", path);
	*p = (struct program){.next = programs};
	snprintf(p->comm, sizeof(p->comm), "%s", name ? name + 1 : path);
	for (size_t i = 0; i < head->e_shnum && !p->count; i++) {
		const Elf64_Shdr *s = section(image, st.st_size, i, path);

		if (s->sh_type == SHT_SYMTAB && s->sh_offset % 8 == 0)
			add_functions(p, image, st.st_size, s, path);
	}
	if (!p->count)
		die("%s has no symbols", path);
	programs = p;
}

/* The last function that begins at or below the address, if it reaches that far; NULL: none, or no such program. */
const char *elf_function(const char *comm, uint64_t address)
{
	const struct program *p = programs;
	size_t low = 0, high;

	while (p && strcmp(p->comm, comm))
		p = p->next;
	if (!p)
		return NULL;
	for (high = p->count; low < high;) {
		size_t middle = (low + high) / 2;

		if (p->functions[middle].from <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < p->functions[low - 1].to ? p->functions[low - 1].name : NULL;
}
