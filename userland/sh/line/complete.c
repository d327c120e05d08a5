/*
 * Completion of file names and commands.
 *
 * Of the word before the cursor, backslashes and quotation marks are taken away; variables and tildes are not
 * expanded. What is put in is quoted as the word's end is.
 *
 *     cat "my fi<TAB>      the word is `my fi`, the open mark is ", and matches are names that begin so
 *     cat "my "fi<TAB>     the same word, and no mark is open
 *     cat my\ fi<TAB>      the same word without a mark: a blank in what is put in gets a backslash
 */
#include "../sh.h"
#include <dirent.h>
#include <sys/stat.h>

/* What fits so far. The list and its strings are the caller's of complete_word() in the end. */
struct matches {
	char **v; /* NULL-terminated once there is one */
	size_t n;
	const char *prefix; /* what the name must begin with */
	size_t length;
};

/* Add name + tail (a slash for a directory) as a match. */
static void add(struct matches *m, const char *name, const char *tail)
{
	m->v = vt_realloc(m->v, sizeof(*m->v) * (m->n + 2));
	m->v[m->n] = vt_malloc(strlen(name) + strlen(tail) + 1);
	strcpy(stpcpy(m->v[m->n], name), tail);
	m->v[++m->n] = NULL;
}

/* For builtin_each(). */
static void add_command(const char *name, void *arg)
{
	struct matches *m = arg;

	if (!strncmp(name, m->prefix, m->length))
		add(m, name, "");
}

/* Names in dir that begin with the prefix, each with shown put in front; directories get a slash. */
static void add_files(struct matches *m, const char *dir, const char *shown, bool programs)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	if (!d)
		return;
	while ((entry = readdir(d))) {
		struct stat st;
		char *path, *name;

		/* Hidden files are offered only after the dot has been typed. */
		if (strncmp(entry->d_name, m->prefix, m->length) || (entry->d_name[0] == '.' && !m->length))
			continue;
		path = vt_join(dir, entry->d_name);
		/* A dangling link is a name all the same. */
		if (stat(path, &st) < 0)
			st.st_mode = 0;
		free(path);
		if (programs && (!S_ISREG(st.st_mode) || !(st.st_mode & 0111)))
			continue;
		name = vt_malloc(strlen(shown) + strlen(entry->d_name) + 1);
		strcpy(stpcpy(name, shown), entry->d_name);
		add(m, name, S_ISDIR(st.st_mode) ? "/" : "");
		free(name);
	}
	closedir(d);
}

/*
 * Programs of all directories of $PATH. An empty part, which means here, is left out. A directory that
 * cannot be read is passed over in silence: a message would spoil the line.
 */
static void add_path(struct matches *m)
{
	const char *path = var_get("PATH");

	while (path && *path) {
		size_t n = strcspn(path, ":");
		char *dir = vt_malloc(n + 1);

		memcpy(dir, path, n);
		dir[n] = '\0';
		add_files(m, dir, "", true);
		free(dir);
		path += n + (path[n] == ':');
	}
}

/* The same name may be found twice: as a builtin and as a program. */
static void sort_matches(struct matches *m)
{
	size_t kept = 0;

	if (!m->n)
		return;
	qsort(m->v, m->n, sizeof(*m->v), vt_by_name);
	for (size_t i = 0; i < m->n; i++) {
		if (kept && !strcmp(m->v[kept - 1], m->v[i]))
			free(m->v[i]);
		else
			m->v[kept++] = m->v[i];
	}
	m->v[kept] = NULL;
	m->n = kept;
}

/*
 * Whether a command's name is expected where the word begins. A guess without the parser: behind ; | & (
 * or a newline a command may stand. Behind `then` or `sudo` it does, too, and there file names are offered.
 */
static bool is_command(const char *line, size_t start)
{
	while (start > 0 && strchr(" \t", line[start - 1]))
		start--;
	return start == 0 || strchr(";|&(\n", line[start - 1]);
}

/* Where the word that ends at `at` begins. If a quotation mark is open there, *quote is the mark; else *quote is 0. */
static size_t word_start(const char *line, size_t at, char *quote)
{
	size_t begin = 0;

	*quote = '\0';
	for (size_t i = 0; i < at; i++) {
		char c = line[i];

		if (*quote ? c == *quote : c == '\'' || c == '"')
			*quote = *quote ? '\0' : c;
		else if (c == '\\' && *quote != '\'')
			i++;
		/* What ends a word for completion; = is among them for NAME=path. */
		if (!*quote && c && strchr(" \t\n;|&<>()=", c))
			begin = i + 1;
	}
	return begin < at ? begin : at;
}

/*
 * A word of n bytes as it is meant, without the quoting, in new memory: names of files are compared
 * with that.
 */
static char *unquoted(const char *text, size_t n)
{
	char *word = vt_malloc(n + 1), *to = word, quote = '\0';

	for (size_t i = 0; i < n; i++) {
		if (quote ? text[i] == quote : text[i] == '\'' || text[i] == '"') {
			quote = quote ? '\0' : text[i];
			continue;
		}
		/* Between double ones a backslash stands for itself but before these. */
		if (text[i] == '\\' && quote != '\'' && i + 1 < n && (!quote || strchr("\"\\$`", text[i + 1])))
			i++;
		*to++ = text[i];
	}
	*to = '\0';
	return word;
}

/*
 * A name as it must be typed to mean itself, given the mark that is open. Between single marks a
 * single one cannot stand, so it leaves them and comes back ('\'').
 */
char *complete_quoted(const char *name, size_t n, char quote)
{
	char *text = vt_malloc(4 * n + 1), *to = text;

	for (size_t i = 0; i < n; i++) {
		if (quote == '\'' && name[i] == '\'') {
			to = stpcpy(to, "'\\''");
			continue;
		}
		if (quote == '"' ? strchr("\"\\$`", name[i]) != NULL
				 : !quote && strchr(" \t\"'\\$`;|&<>()*?[]{}#", name[i]))
			*to++ = '\\';
		*to++ = name[i];
	}
	*to = '\0';
	return text;
}

/*
 * A word with a slash is a path; without one it is a command where one may stand, else a file here.
 */
char **complete_word(const char *line, size_t at, size_t *length, char *quote)
{
	struct matches m = {0};
	size_t begin = word_start(line, at, quote);
	char *word = unquoted(line + begin, at - begin), *slash;

	*length = strlen(word);
	slash = strrchr(word, '/');
	m.prefix = slash ? slash + 1 : word;
	m.length = strlen(m.prefix);
	/* The directory is looked through as it is written, and put in front of each match. */
	if (slash) {
		char *dir = vt_malloc((size_t)(slash - word) + 2);

		memcpy(dir, word, (size_t)(slash - word) + 1);
		dir[slash - word + 1] = '\0';
		add_files(&m, dir, dir, false);
		free(dir);
	} else if (is_command(line, begin)) {
		builtin_each(add_command, &m);
		add_path(&m);
	} else {
		add_files(&m, ".", "", false);
	}
	sort_matches(&m);
	free(word);
	/* The caller gets a list in any case. */
	if (!m.v) {
		m.v = vt_malloc(sizeof(*m.v));
		m.v[0] = NULL;
	}
	return m.v;
}
