/*
 * Commands with {} in the place of a path, as find's -exec has them: one run for each path, or {} +
 * for many.
 *
 *     -exec rm {} ;     rm a     rm b     rm c            a process for each path
 *     -exec rm {} +     rm a b c                          paths are gathered until BATCH_SIZE is reached
 *
 * A process costs thousands of times more than a path, so the second form is the one for many files.
 * In the first a path may stand anywhere in a word (x{}y); in the second {} is the last word.
 */
#include <vt.h>
#include <sys/wait.h>

#define BATCH_SIZE 65536 /* bytes of paths and of pointers to them for one run; execve() takes 2 MiB */

struct vt_command {
	char **words;	     /* not owned */
	size_t fixed;	     /* how many, but for the {} of {} + */
	char **batch;	     /* {} +: the fixed words, then owned paths; NULL: a run for each path */
	size_t count, bytes; /* of the paths in batch */
	bool failed;	     /* a run of {} + did */
};

/* Returns whether the command ended with status 0. */
static bool succeeds(char **argv)
{
	int status;

	if (vt_run(argv, &status) < 0) {
		vt_warn_errno(argv[0]);
		return false;
	}
	if (WIFSIGNALED(status))
		vt_warn("'%s' terminated by signal %d", argv[0], WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A word with path for each {} in it. Returns new memory. */
static char *substitute(const char *word, const char *path)
{
	size_t length = strlen(path);
	/* Each {} is two bytes of word: half of them is more than enough. */
	char *text = vt_malloc(strlen(word) + 1 + strlen(word) / 2 * length), *to = text;

	while (*word) {
		if (word[0] == '{' && word[1] == '}') {
			memcpy(to, path, length);
			to += length;
			word += 2;
		} else {
			*to++ = *word++;
		}
	}
	*to = '\0';
	return text;
}

/*
 * Run the command for one path: each word is copied with the path in the place of {}. Returns whether
 * it succeeded, which find uses as a truth value.
 */
static bool run_once(const struct vt_command *c, const char *path)
{
	char **argv = vt_malloc(sizeof(*argv) * (c->fixed + 1));
	bool done;

	for (size_t i = 0; i < c->fixed; i++)
		argv[i] = substitute(c->words[i], path);
	argv[c->fixed] = NULL;
	done = succeeds(argv);
	for (char **word = argv; *word; word++)
		free(*word);
	free(argv);
	return done;
}

/* Run the command of {} + on what has been gathered. */
static void run_batch(struct vt_command *c)
{
	char **paths;

	if (!c->count)
		return;
	paths = c->batch + c->fixed;
	paths[c->count] = NULL;
	if (!succeeds(c->batch))
		c->failed = true;
	while (c->count)
		free(paths[--c->count]);
	c->bytes = 0;
}

/*
 * Keep the path for the next batch, which runs first if this path would make it too long. execve()
 * counts the bytes of the words and of the pointers to them.
 */
static void gather(struct vt_command *c, const char *path)
{
	size_t bytes = strlen(path) + 1 + sizeof(char *);

	if (c->bytes + bytes > BATCH_SIZE)
		run_batch(c);
	c->batch[c->fixed + c->count++] = vt_strdup(path);
	c->bytes += bytes;
}

/* Make room for batches: no path is shorter than a byte and its zero. */
static void begin_batch(struct vt_command *c)
{
	c->batch = vt_malloc(sizeof(*c->batch) * (c->fixed + BATCH_SIZE / (sizeof(*c->batch) + 2) + 1));
	memcpy(c->batch, c->words, sizeof(*c->batch) * c->fixed);
}

/*
 * A first pass finds the end and counts the {}; the messages are GNU find's, as scripts compare them.
 */
struct vt_command *vt_command_take(const char *option, char ***args)
{
	struct vt_command *c = vt_malloc(sizeof(*c));
	char **word = *args;
	int braces = 0;
	bool batch = false;

	/* A + is the end only behind a word {}. */
	for (; *word && strcmp(*word, ";") && !batch; word++) {
		braces += strstr(*word, "{}") != NULL;
		batch = !strcmp(*word, "{}") && word[1] && !strcmp(word[1], "+");
	}
	if (!*word)
		vt_die(1, "missing argument to `%s'", option);
	if (word == *args)
		vt_die(1, "invalid argument `;' to `%s'", option);
	if (batch && braces > 1)
		vt_die(1, "Only one instance of {} is supported with %s ... +", option);
	*c = (struct vt_command){.words = *args, .fixed = (size_t)(word - *args) - batch};
	if (batch)
		begin_batch(c);
	*args = word + 1;
	return c;
}

bool vt_command_run(struct vt_command *c, const char *path)
{
	if (!c->batch)
		return run_once(c, path);
	gather(c, path);
	return true;
}

bool vt_command_finish(struct vt_command *c)
{
	run_batch(c);
	return !c->failed;
}
