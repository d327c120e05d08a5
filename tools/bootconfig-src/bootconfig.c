/*
 * bootconfig: put a file of keys behind an initramfs, take it away, show it. Usage and errors are those of Linux's tool
 * of that name; docs/bootconfig.md explains the file. What parses it is the kernel's own parser, so that a file that
 * is taken here is taken at boot.
 */
#include <errno.h>
#include <fcntl.h>
#include <lib/bootconfig.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A whole file. */
struct bytes {
	char *at;
	size_t n;
};

static void __noreturn __printf(1, 2) die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fputs("bootconfig: ", stderr);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static void *get_memory(size_t n)
{
	return calloc(1, n) ?: (die("out of memory"), NULL);
}

/* With a zero behind it. */
static struct bytes read_file(const char *name)
{
	struct stat st;
	struct bytes b = {};
	ssize_t got = 0;
	int fd = open(name, O_RDONLY);

	if (fd < 0 || fstat(fd, &st) < 0)
		die("%s: %s", name, strerror(errno));
	b.at = get_memory(st.st_size + 1);
	while (b.n < (size_t)st.st_size && (got = read(fd, b.at + b.n, st.st_size - b.n)) > 0)
		b.n += got;
	if (got < 0)
		die("%s: %s", name, strerror(errno));
	close(fd);
	return b;
}

/* The tree of a text of `n` bytes, which stays as it is. An error ends the program, and names the place in `name`. */
static struct bootconfig parse_text(const char *name, const char *text, size_t n)
{
	char *copy = get_memory(n + 1);
	struct bootconfig bc;
	unsigned line, column;

	memcpy(copy, text, n);
	if (memchr(copy, 0, n))
		die("%s: byte %zu is a zero: this is no text", name, strlen(copy));
	if (!bootconfig_parse(&bc, copy, get_memory(bootconfig_nodes_for(n) * sizeof(struct bootconfig_node)),
			      bootconfig_nodes_for(n)))
		return bc;
	bootconfig_place(text, bc.at, &line, &column);
	die("%s: Parse Error: %s at %u:%u", name, bc.wrong, line, column);
}

/* ---- Showing */

/* The values of a key, and the end of the line. */
static void show_values(const struct bootconfig *bc, unsigned key, const char *end)
{
	unsigned v;

	bootconfig_for_each_value(bc, key, v) {
		const char *text = bootconfig_text(bc, v);

		printf("%s%c%s%c", v == bootconfig_first_value(bc, key) ? " = " : ", ", bootconfig_quote(text), text,
		       bootconfig_quote(text));
	}
	fputs(end, stdout);
}

/* -l: a line for each key, as in /proc/bootconfig. */
static void show_list(const struct bootconfig *bc)
{
	char name[BOOTCONFIG_KEY_MAX];

	for (unsigned key = 0; (key = bootconfig_next_leaf(bc, 0, key));) {
		bootconfig_name(bc, 0, key, name);
		fputs(name, stdout);
		show_values(bc, key, bootconfig_first_value(bc, key) ? "\n" : " = \"\"\n");
	}
}

/* Without an option: the tree with braces. Words of which each leads only to the next one share a line. */
static void show_tree(const struct bootconfig *bc, unsigned parent, int depth)
{
	char name[BOOTCONFIG_KEY_MAX];
	unsigned key, last, below;

	bootconfig_for_each_key(bc, parent, key) {
		last = key;
		while (!bootconfig_first_value(bc, last) && (below = bootconfig_first_key(bc, last)) &&
		       !bc->nodes[below].next)
			last = below;
		bootconfig_name(bc, parent, last, name);
		if (bootconfig_first_value(bc, last) || !bootconfig_first_key(bc, last)) {
			printf("%*s%s", 4 * depth, "", name);
			show_values(bc, last, ";\n");
		}
		if (bootconfig_first_key(bc, last)) {
			printf("%*s%s {\n", 4 * depth, "", name);
			show_tree(bc, last, depth + 1);
			printf("%*s}\n", 4 * depth, "");
		}
	}
}

/* ---- The end of an initramfs */

/* How many bytes of the file are the initramfs's own. *text: the bootconfig behind it; NULL: there is none. */
static size_t own_bytes(const char *name, const struct bytes *file, const char **text)
{
	const char *wrong;
	size_t n;

	*text = bootconfig_at_end(file->at, file->at + file->n, &n, &wrong);
	if (wrong)
		die("%s: the bootconfig at its end is damaged: %s", name, wrong);
	return file->n - n;
}

/* Cut the file and write `more` behind it. After an error it is as it was before. */
static void write_end(const char *name, size_t own, const struct bytes *old, const char *more, size_t n)
{
	int fd = open(name, O_RDWR);
	const char *why;

	if (fd < 0)
		die("%s: %s", name, strerror(errno));
	if (!ftruncate(fd, own) && (!n || pwrite(fd, more, n, own) == (ssize_t)n) && !close(fd))
		return;
	why = strerror(errno);
	if (ftruncate(fd, own) || pwrite(fd, old->at + own, old->n - own, own) < 0)
		die("%s: %s; it could not be restored either", name, why);
	die("%s: %s", name, why);
}

static void put_little_endian(char *to, u32 value)
{
	for (unsigned i = 0; i < sizeof(value); i++)
		to[i] = value >> 8 * i;
}

/*
 * -a: the text, a zero, more zeros until all of the file is a multiple of BOOTCONFIG_ALIGN, and the footer. An older
 * bootconfig is replaced.
 */
static void apply(const char *config, const char *initrd)
{
	struct bytes text = read_file(config), file = read_file(initrd);
	struct bootconfig bc = parse_text(config, text.at, text.n);
	const char *old;
	size_t own = own_bytes(initrd, &file, &old);
	size_t size = ALIGN(own + text.n + 1, (size_t)BOOTCONFIG_ALIGN) - own;
	char *end = get_memory(size + sizeof(struct bootconfig_footer)), *footer = end + size;

	memcpy(end, text.at, text.n);
	put_little_endian(footer, size);
	put_little_endian(footer + sizeof(u32), bootconfig_checksum(end, size));
	memcpy(footer + offsetof(struct bootconfig_footer, magic), BOOTCONFIG_MAGIC, strlen(BOOTCONFIG_MAGIC));
	write_end(initrd, own, &file, end, size + sizeof(struct bootconfig_footer));
	printf("Apply %s to %s\n\tNumber of nodes: %u\n\tSize: %zu bytes\n\tChecksum: %u\n", config, initrd, bc.nr - 1,
	       size, bootconfig_checksum(end, size));
}

/* -d: nothing to delete is no error. */
static void delete (const char *initrd)
{
	struct bytes file = read_file(initrd);
	const char *old;
	size_t own = own_bytes(initrd, &file, &old);

	if (old)
		write_end(initrd, own, &file, NULL, 0);
}

/* The bootconfig at the end of the file; else the file itself is one. An empty file has nothing to show. */
static void show(const char *name, bool list)
{
	struct bytes file = read_file(name);
	const char *text;
	struct bootconfig bc;

	own_bytes(name, &file, &text);
	if (!file.n)
		return;
	if (!text && file.n >= BOOTCONFIG_TEXT_MAX)
		die("%s: no bootconfig at its end, and too large to be one itself", name);
	bc = text ? parse_text(name, text, strlen(text)) : parse_text(name, file.at, file.n);
	if (list)
		show_list(&bc);
	else
		show_tree(&bc, 0, 0);
}

static void __noreturn usage(int status)
{
	fprintf(status ? stderr : stdout,
		"usage: bootconfig [-l] FILE          show what is at the end of an initramfs, or a file of keys\n"
		"       bootconfig -a FILE INITRAMFS  put this file of keys at its end, in place of an older one\n"
		"       bootconfig -d INITRAMFS       delete what is there\n"
		"  -l  a line for each key, as /proc/bootconfig has them; else the tree\n"
		"  -h  this text\n");
	exit(status);
}

int main(int argc, char **argv)
{
	const char *config = NULL;
	bool list = false, take_away = false;
	int option;

	while ((option = getopt(argc, argv, "a:dlh")) != -1) {
		if (option == 'h')
			usage(0);
		if (option == '?')
			usage(2);
		config = option == 'a' ? optarg : config;
		take_away |= option == 'd';
		list |= option == 'l';
	}
	if (optind != argc - 1 || !!config + take_away + list > 1)
		usage(2);
	if (config)
		apply(config, argv[optind]);
	else if (take_away)
		delete (argv[optind]);
	else
		show(argv[optind], list);
	return 0;
}
