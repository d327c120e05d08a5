/*
 * kofuzz [-w] FILE COUNT SEED [NAME=VALUE]...: damage a fresh copy of a module file COUNT times, give it the checksum
 * that fits, and offer each to the kernel with these parameters. A file that is loaded all the same is looked at where
 * programs see what it has, and is taken out again. Prints how many were loaded and how many refused. A kernel that
 * falls over prints something else.
 *
 * -w: the checksum stays as it was. Then each must be refused with ENOEXEC; one that is not ends the program.
 */
#include <vt.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/module.h>
#include <uapi/elf.h>

#define SUM_LINE 30 /* tools/modsum.py */

static unsigned long long state;

/* xorshift64* (Vigna 2016): the same files for the same seed. */
static unsigned long long next_number(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dULL;
}

static size_t below(size_t n)
{
	return n ? next_number() % n : 0;
}

/* As tools/modsum.py has it. */
static void put_sum(char *file, size_t n)
{
	size_t len = n - SUM_LINE;
	unsigned long sum = len, word;
	char line[SUM_LINE + 1];

	for (size_t at = 0; at <= len; at += 8) {
		word = 0;
		memcpy(&word, file + at, len - at < 8 ? len - at : 8);
		sum ^= word;
		sum = (sum << 29 | sum >> 35) * 0x9e3779b97f4a7c15UL;
	}
	snprintf(line, sizeof(line), "~module sum %016lx~\n", sum);
	memcpy(file + len, line, SUM_LINE);
}

/* A bit, a byte, or a number at which programs go wrong in place of one, two, four or eight bytes. */
static void damage_anywhere(char *file, size_t n)
{
	static const unsigned long long numbers[] = {0,	     1,	     8,		 0xff,	     0xfff,
						     0x1000, 0xffff, 0x7fffffff, 0xffffffff, -1ULL};
	size_t size = 1UL << below(4), at = below(n / size) * size;
	unsigned long long number = numbers[below(sizeof(numbers) / sizeof(numbers[0]))];

	switch (below(4)) {
	case 0:
		file[below(n)] ^= 1 << below(8);
		break;
	case 1:
		file[below(n)] = (char)next_number();
		break;
	case 2:
		number = below(n);
		/* fallthrough */
	default:
		memcpy(file + at, &number, size);
	}
}

/*
 * A word of one section, each section being as likely as another however small it is: moved by a little, which leads a
 * pointer or a relocation to a neighbour, or replaced by another word of its section or by any number.
 */
static void damage_word(char *file, char *section, size_t words)
{
	char *word = section + 8 * below(words);
	unsigned long long number;

	if (!words)
		return;
	memcpy(&number, word, sizeof(number));
	switch (below(4)) {
	case 0:
		number += 4 * (long long)below(9) - 16;
		break;
	case 1:
		number += 8 * (long long)below(129) - 512;
		break;
	case 2:
		memcpy(&number, section + 8 * below(words), sizeof(number));
		break;
	default:
		number = below(1UL << below(33));
	}
	memcpy(word, &number, sizeof(number));
}

/* Of the sections that go to memory, of tables of relocations and of symbols, and of the headers themselves. */
static void damage_section(char *file, const char *whole)
{
	const struct elf64_hdr *head = (const void *)whole;
	const struct elf64_shdr *s = (const struct elf64_shdr *)(whole + head->e_shoff) + below(head->e_shnum);

	if (s->sh_type == SHT_NULL)
		damage_word(file, file + head->e_shoff, head->e_shnum * sizeof(*s) / 8);
	else if (s->sh_type != SHT_NOBITS &&
		 (s->sh_flags & SHF_ALLOC || s->sh_type == SHT_RELA || s->sh_type == SHT_SYMTAB))
		damage_word(file, file + s->sh_offset, s->sh_size / 8);
}

/* All that a file of the kernel says, whatever that is. */
static void read_through(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY);

	while (fd >= 0 && read(fd, text, sizeof(text)) > 0)
		;
	close(fd);
}

/* What the parameters show, and from time to time the names and texts that the tracer has of the module. */
static void look_at(const char *module, long n)
{
	char path[512];
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/module/%s/parameters", module);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/sys/module/%s/parameters/%.250s", module, entry->d_name);
		read_through(path);
	}
	if (dir)
		closedir(dir);
	if (n % 16)
		return;
	read_through("/sys/kernel/tracing/eval_map");
	read_through("/sys/kernel/tracing/printk_formats");
	read_through("/sys/kernel/tracing/available_events");
	read_through("/proc/kallsyms");
}

/* Whatever it is called now. */
static void take_out(long n)
{
	char name[64] = "";
	FILE *modules = fopen("/proc/modules", "r");

	if (!modules || fscanf(modules, "%63s", name) != 1)
		vt_die_errno(1, "/proc/modules");
	fclose(modules);
	look_at(name, n);
	if (delete_module(name, O_NONBLOCK))
		vt_die_errno(1, name);
}

/* One file. True: it was loaded. */
static bool offer(char *copy, const char *file, size_t n, const char *params, bool wrong_sum)
{
	memcpy(copy, file, n);
	for (int times = below(3); times >= 0; times--) {
		if (below(3))
			damage_section(copy, file);
		else
			damage_anywhere(copy, n);
	}
	if (wrong_sum && memcmp(copy, file, n) && (init_module(copy, n, params) == 0 || errno != ENOEXEC))
		vt_die_errno(1, "a file with a wrong checksum is not refused with ENOEXEC");
	if (wrong_sum)
		return false;
	put_sum(copy, n);
	return init_module(copy, n, params) == 0;
}

int main(int argc, char **argv)
{
	bool wrong_sum = argc > 1 && !strcmp(argv[1], "-w");
	char *file, *copy, *params, **words = argv + 1 + wrong_sum;
	size_t n;
	long loaded = 0, count;

	if (argc < 4 + wrong_sum)
		vt_die(1, "kofuzz [-w] FILE COUNT SEED [NAME=VALUE]...");
	file = vt_read_file(words[0], &n);
	if (!file)
		vt_die_errno(1, words[0]);
	count = strtol(words[1], NULL, 10);
	state = strtoull(words[2], NULL, 10) * 2654435761U | 1;
	params = vt_module_params(words + 3, argc - 4 - wrong_sum);
	copy = vt_malloc(n);
	for (long i = 0; i < count; i++)
		if (offer(copy, file, n, params, wrong_sum)) {
			take_out(loaded);
			loaded++;
		}
	printf("%ld loaded, %ld refused\n", loaded, count - loaded);
	return 0;
}
