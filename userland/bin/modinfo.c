/*
 * modinfo NAME|FILE...: what a module's file says of it: its licence, author, parameters and the kernel that it is for.
 * A name is looked up as modprobe does; in front of that a file of this name in the working directory counts.
 */
#include <vt.h>
#include <vt_module.h>
#include <string.h>
#include <sys/stat.h>

#include <uapi/elf.h>

/* The section .modinfo of a relocatable file of 64 bits; NULL: there is none. *size: its bytes. */
static const char *find_info(const char *file, size_t n, size_t *size)
{
	const struct elf64_hdr *h = (const void *)file;
	const struct elf64_shdr *s, *names;

	if (n < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_shoff > n ||
	    (n - h->e_shoff) / sizeof(*s) < h->e_shnum || h->e_shstrndx >= h->e_shnum)
		return NULL;
	s = (const void *)(file + h->e_shoff);
	names = &s[h->e_shstrndx];
	for (int i = 0; i < h->e_shnum; i++, s++) {
		size_t at = names->sh_offset + s->sh_name;

		if (at + sizeof(".modinfo") > n || memcmp(file + at, ".modinfo", sizeof(".modinfo")))
			continue;
		*size = s->sh_size;
		return s->sh_offset <= n && s->sh_size <= n - s->sh_offset ? file + s->sh_offset : NULL;
	}
	return NULL;
}

/* Words "tag=value", each ended by a zero. */
static void show(const char *path, const char *info, size_t size)
{
	printf("%-16s%s\n", "filename:", path);
	while (size) {
		size_t len = strnlen(info, size);
		const char *equal = memchr(info, '=', len);

		if (equal) {
			printf("%.*s:%*s", (int)(equal - info), info, (int)(15 - (equal - info)), "");
			printf("%.*s\n", (int)(info + len - equal - 1), equal + 1);
		}
		len += len < size;
		info += len;
		size -= len;
	}
}

/* The path of the file that is meant by the word; NULL: there is none. */
static const char *find_path(struct vt_module_needs *needs, const char *word)
{
	struct stat st;

	if (!stat(word, &st) && S_ISREG(st.st_mode))
		return word;
	return vt_find_module(needs, NULL, word) ? vt_module_path(needs, 0) : NULL;
}

/* 0 or the status to end with. */
static int tell(const char *path)
{
	size_t n = 0, size;
	char *file = vt_read_file(path, &n);
	const char *info = file ? find_info(file, n, &size) : NULL;

	if (!file)
		vt_warn_errno(path);
	else if (!info)
		vt_warn("%s: it is no module", path);
	else
		show(path, info, size);
	free(file);
	return !info;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "modinfo NAME|FILE...", .options = "", .bad_status = 1};
	static struct vt_module_needs needs;
	int status = 0;

	while (vt_option(&o, argc, argv) != -1)
		;
	if (o.index >= argc)
		vt_usage(&o);
	for (; o.index < argc; o.index++) {
		const char *path = find_path(&needs, argv[o.index]);

		if (!path)
			vt_warn("Module %s not found: no file, nor does a modules.dep of /lib/modules or /host name it",
				argv[o.index]);
		status |= path ? tell(path) : 1;
	}
	return vt_finish(status);
}
