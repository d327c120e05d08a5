/*
 * echo, and the backslash escapes that it shares with printf and $'..'.
 *
 * POSIX leaves open what echo does with -n and backslashes; this is bash's: escapes only after -e.
 *
 * Hence `echo 'a\nb'` prints a backslash, and `printf 'a\nb'` two lines. Portable scripts use printf.
 */
#include <vt.h>

/* Up to max digits of the base at *s. Returns their value, or -1 when there are none. */
static int escape_digits(const char **s, int base, int max)
{
	int value = -1;

	for (; max > 0; max--, (*s)++) {
		int c = **s, digit;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			digit = (c | 32) - 'a' + 10;
		else
			break;
		if (digit >= base)
			break;
		value = (value < 0 ? 0 : value * base) + digit;
	}
	return value;
}

/*
 * Octal is \0ddd for echo and \ddd for printf; both are taken everywhere, as bash does. Hexadecimal
 * \xhh takes at most two digits. A letter that is no escape is returned alone, without its backslash.
 */
int vt_escape(const char **s)
{
	static const char letters[] = "abefnrtv", values[] = "\a\b\033\f\n\r\t\v";
	int c = *(*s)++, value;
	const char *known;

	/* A backslash at the end stands for itself; *s stays on the zero. */
	if (c == '\0') {
		--*s;
		return '\\';
	}
	/* Both rows are in the same order. */
	known = strchr(letters, c);
	if (known)
		return values[known - letters];
	switch (c) {
	case 'c':
		return -1;
	case 'x':
		value = escape_digits(s, 16, 2);
		return value < 0 ? 'x' : value;
	case '0':
		value = escape_digits(s, 8, 3);
		return value < 0 ? 0 : value & 255;
	case '1' ... '7':
		--*s;
		return escape_digits(s, 8, 3) & 255;
	}
	return (unsigned char)c;
}

/*
 * Copy one word with its escapes done; a backslash before anything else stays. \c sets *stop: nothing
 * more is printed, not even the newline. Returns the end of the copy.
 */
static char *echo_escaped(char *to, const char *word, bool *stop)
{
	while (*word) {
		int c = (unsigned char)*word++;

		if (c == '\\' && *word && strchr("abcefnrtvx0\\", *word)) {
			c = vt_escape(&word);
			if (c < 0) {
				*stop = true;
				break;
			}
		}
		*to++ = (char)c;
	}
	return to;
}

/* -n, -e, -E or a cluster of them; anything else is a word to print. */
static bool echo_option(const char *word, bool *newline, bool *escapes)
{
	if (word[0] != '-' || !word[1] || word[1 + strspn(word + 1, "neE")])
		return false;
	while (*++word) {
		if (*word == 'n')
			*newline = false;
		else
			*escapes = *word == 'e';
	}
	return true;
}

/* The whole text goes out in one write(2): files of tracefs take each write as one command. */
int vt_echo(int argc, char **argv)
{
	bool newline = true, escapes = false, stop = false;
	/* No escape is shorter than what it stands for, so the words' own length is enough. */
	size_t size = 1;
	char *text, *end;
	int i, status = 0;

	for (i = 1; i < argc && echo_option(argv[i], &newline, &escapes);)
		i++;
	for (int j = i; j < argc; j++)
		size += strlen(argv[j]) + 1;
	text = end = vt_malloc(size);
	for (int j = i; j < argc && !stop; j++) {
		if (j > i)
			*end++ = ' ';
		end = escapes ? echo_escaped(end, argv[j], &stop) : stpcpy(end, argv[j]);
	}
	if (newline && !stop)
		*end++ = '\n';
	if (vt_write_all(STDOUT_FILENO, text, (size_t)(end - text)) < 0) {
		vt_warn_errno(strcmp(vt_name, "echo") ? "echo: write error" : "write error");
		status = 1;
	}
	free(text);
	return status;
}
