/*
 * Walking down a tree of files.
 *
 * The directories on the way down lie in a list of our own, since a deep tree would overflow the program's stack.
 * vt_names() closes a directory before its first name is used, so a walk holds no descriptor while a file is visited.
 */
#include <vt.h>
#include <sys/stat.h>

/* A directory on the way down to the file being visited; all owned. */
struct level {
	char *path;
	const char *name; /* the last part of path; not owned */
	struct stat st;
	char **names;
	size_t next; /* index in names of the one to visit next */
};

struct walk {
	const struct vt_walker *walker;
	struct level *levels;
	size_t depth, room; /* levels in use, and allocated */
};

/* Enter a directory. Takes path and names over. */
static void push(struct walk *walk, char *path, char **names, const struct vt_file *file)
{
	if (walk->depth == walk->room) {
		walk->room = 2 * walk->room + 8;
		walk->levels = vt_realloc(walk->levels, sizeof(*walk->levels) * walk->room);
	}
	walk->levels[walk->depth++] = (struct level){.path = path, .name = file->name, .st = *file->st, .names = names};
}

/* Leave the deepest directory: all of its names have been visited. */
static void pop(struct walk *walk)
{
	struct level *level = &walk->levels[--walk->depth];
	struct vt_file file = {.path = level->path, .name = level->name, .depth = walk->depth, .st = &level->st};

	if (walk->walker->enter)
		walk->walker->visit(&file);
	vt_names_free(level->names);
	free(level->path);
}

/*
 * Show one file to the walker and enter it if it is a directory that the walker wants. lstat() is
 * used, so a link to a directory is a file: following it could lead in a circle. Takes path over.
 */
static void visit(struct walk *walk, char *path, const char *name)
{
	const struct vt_walker *walker = walk->walker;
	struct stat st;
	struct vt_file file = {.path = path, .name = name, .depth = walk->depth, .st = &st};
	char **names;
	bool later;

	if (lstat(path, &st) < 0) {
		walker->fail(path);
		free(path);
		return;
	}
	later = S_ISDIR(st.st_mode) && walker->enter && walker->enter(&file);
	if (later || (walker->visit(&file) && S_ISDIR(st.st_mode))) {
		names = vt_names(path);
		if (names) {
			push(walk, path, names, &file);
			return;
		}
		walker->fail(path);
		if (later)
			walker->visit(&file);
	}
	free(path);
}

/* Visit a name and all that is below it, without recursion: depth costs memory and no stack. */
void vt_walk(const struct vt_walker *walker, const char *start)
{
	struct walk walk = {.walker = walker};
	char *name = vt_strdup(start);

	/* The last part of "d/" is d, that of "/" itself. */
	for (size_t n = strlen(name); n > 1 && name[n - 1] == '/';)
		name[--n] = '\0';
	visit(&walk, vt_strdup(start), strcmp(name, "/") ? vt_basename(name) : name);
	while (walk.depth) {
		struct level *top = &walk.levels[walk.depth - 1];
		const char *next = top->names[top->next];

		if (!next) {
			pop(&walk);
			continue;
		}
		top->next++;
		visit(&walk, vt_join(top->path, next), next);
	}
	free(name);
	free(walk.levels);
}
