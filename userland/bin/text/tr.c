/*
 * tr [-cds] SET1 [SET2]: exchange or delete bytes.
 *
 * Sets have ranges, classes and backslash escapes. Left out: [x*n], equivalence classes; a shorter
 * SET2 is filled with its last byte.
 *
 *     echo hello | tr a-y b-z       prints ifmmp: byte i of SET1 becomes byte i of SET2
 */
#include <vt.h>

struct set {
	unsigned char v[1024];
	size_t n;
};

/* Beyond 1024 members, which no sensible set has, the rest is dropped. */
static void add(struct set *set, int c)
{
	if (set->n < sizeof(set->v))
		set->v[set->n++] = (unsigned char)c;
}

/* One byte of a set, with its escape done. It steps over what it takes. */
static int take(const char **s)
{
	int c = (unsigned char)*(*s)++;

	return c == '\\' ? vt_escape(s) & 255 : c;
}

/*
 * Add the members of a class such as [:upper:] at s. Returns the length of its name in the text; 0: no class begins at
 * s.
 */
static size_t add_class(struct set *set, const char *s)
{
	int (*is)(int c);
	size_t n = vt_class(s, &is);

	for (int c = 0; n && c < 256; c++) {
		if (is(c))
			add(set, c);
	}
	return n;
}

/*
 * A set is written out in full: "a-c" are three members in this order, as the places of SET1 and SET2
 * correspond.
 */
static void parse_set(struct set *set, const char *s)
{
	while (*s) {
		size_t n = add_class(set, s);
		int low, high;

		s += n;
		if (n)
			continue;
		low = high = take(&s);
		if (s[0] == '-' && s[1]) {
			s++;
			high = take(&s);
			if (high < low)
				vt_die(1, "range '%c-%c' is in reverse order", low, high);
		}
		for (; low <= high; low++)
			add(set, low);
	}
}

/* -c: all bytes that are not in the set, in order. */
static void complement(struct set *set)
{
	bool in[256] = {false};

	for (size_t i = 0; i < set->n; i++)
		in[set->v[i]] = true;
	set->n = 0;
	for (int c = 0; c < 256; c++) {
		if (!in[c])
			add(set, c);
	}
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "tr [-cds] SET1 [SET2]", .options = "cds", .in_order = true, .bad_status = 1};
	bool inverted = false, delete = false, squeeze = false, drop[256] = {false}, single[256] = {false};
	unsigned char map[256], buf[4096], out[4096];
	struct set from = {.n = 0}, to = {.n = 0};
	int c, last = -1, sets;
	ssize_t n;

	while ((c = vt_option(&o, argc, argv)) != -1)
		*(c == 'c' ? &inverted : c == 'd' ? &delete : &squeeze) = true;
	/* -d takes one set, or with -s a second one to squeeze; -s alone takes one or two. */
	sets = argc - o.index;
	if (sets < 1 || sets > 2 || (sets == 1 && !delete &&!squeeze) || (sets == 2 && delete &&!squeeze))
		vt_usage(&o);
	parse_set(&from, argv[o.index]);
	if (inverted)
		complement(&from);
	if (sets == 2)
		parse_set(&to, argv[o.index + 1]);
	if (sets == 2 && !to.n)
		vt_die(1, "SET2 must not be empty");
	/*
	 * Sets become tables first: then each byte of input costs three look-ups, whatever the
	 * sets.
	 */
	for (int i = 0; i < 256; i++)
		map[i] = (unsigned char)i;
	for (size_t i = 0; i < from.n; i++) {
		if (delete)
			drop[from.v[i]] = true;
		else if (to.n)
			map[from.v[i]] = to.v[i < to.n ? i : to.n - 1];
	}
	/* -s squeezes what comes out, so SET2 if there is one. */
	for (size_t i = 0; squeeze && i < (sets == 2 ? to.n : from.n); i++)
		single[sets == 2 ? to.v[i] : from.v[i]] = true;
	/* last lives from block to block: a run may cross the border. */
	while ((n = vt_read(STDIN_FILENO, buf, sizeof(buf))) > 0) {
		size_t used = 0;

		for (ssize_t i = 0; i < n; i++) {
			c = map[buf[i]];
			if (drop[buf[i]] || (single[c] && c == last))
				continue;
			out[used++] = (unsigned char)c;
			last = c;
		}
		if (vt_write_all(STDOUT_FILENO, out, used) < 0)
			vt_die_errno(1, "write error");
	}
	if (n < 0)
		vt_die_errno(1, "read error");
	return 0;
}
