/*
 * modinfo NAME|FILE...: what a module's file says of it: its licence, author, parameters and the kernel that it is for.
 * A name is looked up as modprobe does; in front of that a file of this name in the working directory counts. -p shows
 * the parameters alone, -F the values of one field.
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
		if (names->sh_offset > n || n - names->sh_offset < sizeof(".modinfo") ||
		    s->sh_name > n - names->sh_offset - sizeof(".modinfo") ||
		    memcmp(file + names->sh_offset + s->sh_name, ".modinfo", sizeof(".modinfo")))
			continue;
		*size = s->sh_size;
		return s->sh_offset <= n && s->sh_size <= n - s->sh_offset ? file + s->sh_offset : NULL;
	}
	return NULL;
}

/* The file's words "tag=value", each ended by a zero. */
struct words {
	const char *info;
	size_t size;
};

struct word {
	const char *tag, *value;
	size_t tag_len, len;
};

/* Take the next one; false: there is no more. */
static bool next_word(struct words *words, struct word *word)
{
	while (words->size) {
		const char *info = words->info;
		size_t len = strnlen(info, words->size);
		const char *equal = memchr(info, '=', len);

		words->info += len + (len < words->size);
		words->size -= len + (len < words->size);
		if (!equal)
			continue;
		*word = (struct word){info, equal + 1, equal - info, info + len - equal - 1};
		return true;
	}
	return false;
}

static bool has_tag(const struct word *word, const char *tag)
{
	return word->tag_len == strlen(tag) && !memcmp(word->tag, tag, word->tag_len);
}

/* The word with this tag whose value begins with the same "name:". A parameter has a parm, a parmtype, or both. */
static bool find_other(struct words words, const char *tag, const struct word *of, struct word *found)
{
	const char *colon = memchr(of->value, ':', of->len);
	size_t n = colon ? colon + 1 - of->value : of->len;

	while (next_word(&words, found))
		if (has_tag(found, tag) && found->len >= n && !memcmp(found->value, of->value, n)) {
			found->value += n;
			found->len -= n;
			return true;
		}
	return false;
}

/* One line, if it is wanted: all fields, with their names, or the values of one. */
static void show_word(struct words words, struct word word, const char *field)
{
	struct word other;
	bool is_type = has_tag(&word, "parmtype");

	if (is_type && find_other(words, "parm", &word, &other))
		return;
	if (is_type)
		word.tag_len = strlen("parm");
	if (field && !has_tag(&word, field))
		return;
	if (!field)
		printf("%.*s:%*s", (int)word.tag_len, word.tag, (int)(15 - word.tag_len), "");
	printf("%.*s", (int)word.len, word.value);
	if (!is_type && has_tag(&word, "parm") && find_other(words, "parmtype", &word, &other))
		printf(" (%.*s)", (int)other.len, other.value);
	printf("\n");
}

static void show(const char *path, struct words words, const char *field)
{
	struct words rest = words;
	struct word word;

	if (!field)
		printf("%-16s%s\n", "filename:", path);
	else if (!strcmp(field, "filename"))
		printf("%s\n", path);
	while (next_word(&rest, &word))
		show_word(words, word, field);
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
static int tell(const char *path, const char *field)
{
	size_t n = 0, size;
	char *file = vt_read_file(path, &n);
	const char *info = file ? find_info(file, n, &size) : NULL;

	if (!file)
		vt_warn_errno(path);
	else if (!info)
		vt_warn("%s: it is not a module", path);
	else
		show(path, (struct words){info, size}, field);
	free(file);
	return !info;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "modinfo [-p] [-F FIELD] NAME|FILE...", .options = "pF:", .bad_status = 1};
	static struct vt_module_needs needs;
	const char *field = NULL;
	int status = 0, c;

	while ((c = vt_option(&o, argc, argv)) != -1)
		field = c == 'p' ? "parm" : o.arg;
	if (o.index >= argc)
		vt_usage(&o);
	for (; o.index < argc; o.index++) {
		const char *path = find_path(&needs, argv[o.index]);

		if (!path)
			vt_warn("Module %s not found: no file, nor does a modules.dep of /lib/modules or /host name it",
				argv[o.index]);
		status |= path ? tell(path, field) : 1;
	}
	return vt_finish(status);
}
