/*
 * hexdump [-C] [-n BYTES] [FILE...]: bytes as numbers.
 *
 * Words of two bytes in the machine's order, or with -C bytes and text. Left out: formats (-e), -s,
 * -v, and the columns -b -c -d -o -x.
 *
 *     -C:   00000000  7f 45 4c 46 02 01 01 00  00 00 00 00 00 00 00 00  |.ELF............|
 *
 * Rows that repeat the one before are shown as a single star, which keeps a dump of zeros short.
 */
#include <vt.h>
#include <ctype.h>
#include <limits.h>

struct dump {
	bool canonical;
	long left;	      /* bytes still to be shown */
	unsigned long offset; /* of row, from the start of all input */
	unsigned char row[16], last[16];
	size_t fill;	      /* bytes in row so far */
	bool same, have_last; /* a star has been printed; last holds a full row */
};

/* Two groups of eight bytes, and what of them can be printed. */
static void print_canonical(const struct dump *d)
{
	printf("%08lx ", d->offset);
	for (size_t i = 0; i < 16; i++) {
		if (i % 8 == 0)
			printf(" ");
		if (i < d->fill)
			printf("%02x ", d->row[i]);
		else
			printf("   ");
	}
	printf(" |");
	for (size_t i = 0; i < d->fill; i++)
		printf("%c", isprint(d->row[i]) ? d->row[i] : '.');
	printf("|\n");
}

/*
 * Words of two bytes in the machine's order, which on both machines has the low byte first: the bytes
 * 7f 45 are shown as 457f. A last single byte is filled up with a zero.
 */
static void print_words(const struct dump *d)
{
	printf("%07lx", d->offset);
	for (size_t i = 0; i < d->fill; i += 2)
		printf(" %04x", (unsigned int)(d->row[i] | (i + 1 < d->fill ? d->row[i + 1] << 8 : 0)));
	printf("\n");
}

/* A row equal to the one before it is shown as a star, once. */
static void print_row(struct dump *d)
{
	bool same = d->have_last && d->fill == 16 && !memcmp(d->row, d->last, 16);

	if (same && !d->same)
		printf("*\n");
	else if (!same)
		(d->canonical ? print_canonical : print_words)(d);
	d->same = same;
	d->have_last = d->fill == 16;
	memcpy(d->last, d->row, 16);
	d->offset += d->fill;
	d->fill = 0;
}

/* For vt_each_file(). Rows go on from file to file, as if all were one. */
static int dump_file(int fd, const char *name, void *arg)
{
	struct dump *d = arg;
	unsigned char buf[4096];
	ssize_t n = 0;

	while (d->left > 0 && (n = vt_read(fd, buf, d->left < (long)sizeof(buf) ? (size_t)d->left : sizeof(buf))) > 0) {
		d->left -= n;
		for (ssize_t i = 0; i < n; i++) {
			d->row[d->fill++] = buf[i];
			if (d->fill == 16)
				print_row(d);
		}
	}
	if (n < 0)
		vt_warn_errno(name);
	return n < 0;
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "hexdump [-C] [-n BYTES] [FILE...]", .options = "Cn:", .bad_status = 1};
	struct dump d = {.left = LONG_MAX};
	int c, status;

	while ((c = vt_option(&o, argc, argv)) != -1) {
		if (c == 'C')
			d.canonical = true;
		else
			d.left = vt_number_or_die(1, o.arg, 0, LONG_MAX);
	}
	status = vt_each_file(argv + o.index, 1, dump_file, &d);
	if (d.fill)
		print_row(&d);
	/* The end is shown as well, on a line of its own. */
	if (d.offset)
		printf(d.canonical ? "%08lx\n" : "%07lx\n", d.offset);
	return vt_finish(status);
}
