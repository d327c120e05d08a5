/*
 * dd [if=FILE] [of=FILE] [bs=N] [count=N] [skip=N] [seek=N] [iflag=nonblock] [oflag=append]
 * [conv=notrunc] [status=none]: copy in blocks of a given size, one read(2) and one write(2) each.
 *
 * That makes it the tool to try out reads and writes of one size on a file of tracefs. Left out:
 * ibs, obs and cbs, conversions, iflag=fullblock: a short read is a block of its own.
 *
 *     dd if=trace_pipe_raw of=page bs=4096 count=1 iflag=nonblock      one page of the ring buffer, if there is one
 */
#include <vt.h>
#include <limits.h>
#include <time.h>

struct dd {
	const char *in, *out;	      /* NULL: standard input and output */
	long size, count, skip, seek; /* bytes a block; blocks */
	bool nonblock, notrunc, append, quiet;
};

/* A number with an optional unit of 1024: k, M or G. */
static long size_of(const char *text)
{
	static const char units[] = "kMG";
	char number[24];
	size_t n = strlen(text);
	const char *unit = n ? strchr(units, text[n - 1] == 'K' ? 'k' : text[n - 1]) : NULL;
	long value;

	if (n >= sizeof(number))
		vt_die(1, "invalid number '%s'", text);
	strcpy(number, text);
	if (unit)
		number[n - 1] = '\0';
	/* With a unit of up to 2^30 the product still fits. */
	value = vt_number_or_die(1, number, 0, LONG_MAX >> 31);
	return unit ? value << (10 * (unit - units + 1)) : value;
}

/* Take the words of conv=, iflag= or oflag=, which stand with commas between. */
static void set_flags(struct dd *dd, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == 8 && !strncmp(list, "nonblock", n))
			dd->nonblock = true;
		else if (n == 7 && !strncmp(list, "notrunc", n))
			dd->notrunc = true;
		else if (n == 6 && !strncmp(list, "append", n))
			dd->append = true;
		else
			vt_die(1, "unknown flag '%.*s'", (int)n, list);
		list += n + (list[n] == ',');
	}
}

/*
 * Take one operand, NAME=VALUE. Its index in `names` tells what is set: 0 and 1 are files, 2 to 5
 * numbers, 6 to 8 flags, 9 is the status.
 */
static void set_operand(struct dd *dd, const char *word)
{
	static const char *const names[] = {
		"if=", "of=", "bs=", "count=", "skip=", "seek=", "iflag=", "oflag=", "conv=", "status="};
	const char *value = strchr(word, '=');
	size_t i = 0;

	while (i < ARRAY_SIZE(names) && strncmp(word, names[i], strlen(names[i])))
		i++;
	if (!value || i == ARRAY_SIZE(names))
		vt_die(1, "unknown operand '%s' (try dd --help)", word);
	value++;
	if (i < 2)
		*(i == 0 ? &dd->in : &dd->out) = value;
	else if (i < 6)
		*(i == 2 ? &dd->size : i == 3 ? &dd->count : i == 4 ? &dd->skip : &dd->seek) = size_of(value);
	else if (i < 9)
		set_flags(dd, value);
	else if (!strcmp(value, "none"))
		dd->quiet = true;
	else
		vt_die(1, "unknown status '%s'", value);
}

/*
 * Open both files, or end the program. With notrunc or append the output is not emptied; with seek only what lies
 * before the new bytes stays.
 */
static void open_files(const struct dd *dd, int *in, int *out)
{
	*in = dd->in ? open(dd->in, O_RDONLY | (dd->nonblock ? O_NONBLOCK : 0)) : STDIN_FILENO;
	if (*in < 0)
		vt_die_errno(1, dd->in);
	if (dd->nonblock && !dd->in && fcntl(*in, F_SETFL, O_NONBLOCK) < 0)
		vt_die_errno(1, "standard input");
	*out = STDOUT_FILENO;
	if (dd->out)
		*out = open(dd->out,
			    O_WRONLY | O_CREAT | (dd->append ? O_APPEND : 0) |
				    (dd->notrunc || dd->append || dd->seek ? 0 : O_TRUNC),
			    0666);
	if (*out < 0)
		vt_die_errno(1, dd->out);
	/* EINVAL: not a regular file, so it has no length. */
	if (dd->seek && !dd->notrunc && !dd->append && ftruncate(*out, dd->seek * dd->size) < 0 && errno != EINVAL)
		vt_die_errno(1, "seek");
	if (dd->seek && lseek(*out, dd->seek * dd->size, SEEK_SET) < 0)
		vt_die_errno(1, "seek");
}

/*
 * Step over `skip` blocks of input: by moving in it, or, where it cannot be moved in (a pipe), by
 * reading.
 */
static void skip(const struct dd *dd, int in, char *block)
{
	if (!dd->skip || lseek(in, dd->skip * dd->size, SEEK_CUR) >= 0)
		return;
	for (long i = 0; i < dd->skip; i++) {
		if (read(in, block, (size_t)dd->size) < 0)
			vt_die_errno(1, "skip");
	}
}

/* A number of bytes with a unit of 1000, as GNU's dd has it. Returns text. */
static char *with_unit(unsigned long bytes, char text[24])
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	unsigned long tenths = bytes < ~0UL / 10 ? 10 * bytes : bytes;
	size_t unit = 0;

	for (; tenths >= 9995 && unit + 1 < ARRAY_SIZE(units); unit++)
		tenths = (tenths + 500) / 1000;
	if (unit && tenths < 1000)
		sprintf(text, "%lu.%lu %s", tenths / 10, tenths % 10, units[unit]);
	else
		sprintf(text, "%lu %s", (tenths + 5) / 10, units[unit]);
	return text;
}

/* Print the last line, in the words of GNU's dd. */
static void tell_speed(long bytes, int64_t us)
{
	unsigned long time = us > 0 ? (unsigned long)us : 1;
	char size[24] = "", speed[24];

	fprintf(stderr, "%ld bytes", bytes);
	if (bytes >= 1000)
		fprintf(stderr, " (%s)", with_unit((unsigned long)bytes, size));
	/* In this order 8 PB do not overflow. */
	with_unit((unsigned long)bytes * 1000 / time * 1000, speed);
	fprintf(stderr, " copied, %lu.%06lu s, %s/s\n", time / 1000000, time % 1000000, speed);
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "dd [if=FILE] [of=FILE] [bs=N] [count=N] [skip=N] [seek=N] [iflag=nonblock] "
					"[oflag=append] [conv=notrunc] [status=none]",
			       .options = "",
			       .bad_status = 1};
	struct dd dd = {.size = 512, .count = LONG_MAX};
	long blocks = 0, full = 0, bytes = 0, unwritten = 0;
	struct timespec begin, end;
	int in, out, status = 0;
	char *block;
	ssize_t n;

	vt_operands(&o, argc, argv, 0, argc);
	for (; o.index < argc; o.index++)
		set_operand(&dd, argv[o.index]);
	if (dd.size == 0 || dd.size > 1 << 26)
		vt_die(1, "invalid block size");
	block = vt_malloc((size_t)dd.size);
	open_files(&dd, &in, &out);
	skip(&dd, in, block);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (blocks < dd.count && (n = read(in, block, (size_t)dd.size)) != 0) {
		if (n < 0) {
			vt_warn("error reading '%s': %s", dd.in ? dd.in : "standard input", strerror(errno));
			status = 1;
			break;
		}
		if (vt_write_all(out, block, (size_t)n) < 0) {
			vt_warn("error writing '%s': %s", dd.out ? dd.out : "standard output", strerror(errno));
			unwritten = n == dd.size;
			status = 1;
			break;
		}
		blocks++;
		full += n == dd.size;
		bytes += n;
	}
	if (!dd.quiet) {
		clock_gettime(CLOCK_MONOTONIC, &end);
		fprintf(stderr, "%ld+%ld records in\n%ld+%ld records out\n", full + unwritten, blocks - full, full,
			blocks - full);
		tell_speed(bytes, vt_elapsed(&begin, &end));
	}
	return status;
}
