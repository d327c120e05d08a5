/*
 * pack FILE: its bytes, up to its end or to where a read would wait, in less of them, as text for a console, which
 * takes some 60 KB a second. Lines of base64; in them n < 128: n + 1 bytes follow; else n - 124 bytes are the same as
 * those so far back as the next two bytes say.
 */
#include <vt.h>
#include <fcntl.h>

#define MATCH_MIN 4
#define MATCH_MAX 131
#define DISTANCE  65535
#define HASHES	  (1 << 14)

static unsigned char *in;
static size_t in_size, last_seen[HASHES]; /* of four bytes: where they were, plus one */
static unsigned char line[48];
static size_t fill;

static void put_line(void)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < fill; i += 3) {
		unsigned bits = (unsigned)line[i] << 16 | (unsigned)line[i + 1] << 8 | line[i + 2];

		putchar(digits[bits >> 18]);
		putchar(digits[bits >> 12 & 63]);
		putchar(i + 1 < fill ? digits[bits >> 6 & 63] : '=');
		putchar(i + 2 < fill ? digits[bits & 63] : '=');
	}
	putchar('\n');
	memset(line, 0, sizeof(line));
	fill = 0;
}

static void put(unsigned char byte)
{
	line[fill++] = byte;
	if (fill == sizeof(line))
		put_line();
}

static void put_literals(size_t from, size_t to)
{
	while (from < to) {
		size_t n = to - from < 128 ? to - from : 128;

		put((unsigned char)(n - 1));
		for (; n; n--)
			put(in[from++]);
	}
}

/* How many bytes at `at` are as those at `before`. */
static size_t match_length(size_t before, size_t at)
{
	size_t n = 0;

	while (n < MATCH_MAX && at + n < in_size && in[before + n] == in[at + n])
		n++;
	return n;
}

static size_t find_match(size_t at, size_t *distance)
{
	unsigned word, hash;
	size_t before;

	if (at + MATCH_MIN > in_size)
		return 0;
	memcpy(&word, in + at, sizeof(word));
	hash = word * 2654435761u >> 18;
	before = last_seen[hash];
	last_seen[hash] = at + 1;
	if (!before || at + 1 - before > DISTANCE)
		return 0;
	*distance = at + 1 - before;
	return match_length(before - 1, at);
}

static void pack(void)
{
	size_t literals = 0, distance = 0, n;

	for (size_t at = 0; at < in_size;) {
		n = find_match(at, &distance);
		if (n < MATCH_MIN) {
			at++;
			continue;
		}
		put_literals(literals, at);
		put((unsigned char)(n + 124));
		put(distance & 255);
		put((unsigned char)(distance >> 8));
		at += n;
		literals = at;
	}
	put_literals(literals, in_size);
	if (fill)
		put_line();
}

int main(int argc, char **argv)
{
	ssize_t n;
	int fd;

	if (argc != 2)
		vt_die(2, "usage: pack FILE");
	fd = open(argv[1], O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		vt_die_errno(2, argv[1]);
	do {
		in = realloc(in, in_size + 65536);
		if (!in)
			vt_die(1, "no memory");
		n = read(fd, in + in_size, 65536);
		in_size += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	if (n < 0 && errno != EAGAIN)
		vt_die_errno(1, argv[1]);
	pack();
	return vt_finish(0);
}
