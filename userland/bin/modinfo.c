/* modinfo FILE...: what a module's file says of it: its licence, author, parameters and the kernel that it is for. */
#include <vt.h>
#include <string.h>

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

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "modinfo FILE...", .options = "", .bad_status = 1};
	int status = 0;

	while (vt_option(&o, argc, argv) != -1)
		;
	if (o.index >= argc)
		vt_usage(&o);
	for (; o.index < argc; o.index++) {
		size_t n = 0, size;
		char *file = vt_read_file(argv[o.index], &n);
		const char *info = file ? find_info(file, n, &size) : NULL;

		if (!file)
			vt_warn_errno(argv[o.index]);
		else if (!info)
			vt_warn("%s: it is no module", argv[o.index]);
		else
			show(argv[o.index], info, size);
		status |= !info;
		free(file);
	}
	return vt_finish(status);
}
