/*
 * Memory that is given back all at once, up to a mark.
 *
 * An arena is a stack of chunks. Allocating is an addition in the top chunk; giving back is a return to an earlier
 * top. So what a command line needs (words, the parse tree) is never freed piece by piece. An error may jump out of the
 * middle of it: all of it is given back with the mark that was taken before.
 */
#include "sh.h"

#define CHUNK_SIZE 4000 /* bytes; larger requests get a chunk of their own */

/* One piece of memory from malloc; owned by the arena, freed by arena_release() only. */
struct arena_chunk {
	struct arena_chunk *below; /* allocated before this one; NULL: the first */
	size_t used, size;	   /* bytes of data taken, and in all */
	char data[] __attribute__((aligned(16)));
};

/* Memory that is released with all that was allocated after it, at any size and aligned to 16. Does not return NULL. */
void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_chunk *chunk = a->top;
	void *p;

	/* Every block stays aligned for any type, as malloc's are. */
	size = (size + 15) & ~(size_t)15;
	if (!chunk || chunk->size - chunk->used < size) {
		/*
		 * What is left of the chunk below is given up: at most one block's worth, and only
		 * until the release.
		 */
		size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;

		chunk = vt_malloc(sizeof(*chunk) + room);
		*chunk = (struct arena_chunk){.below = a->top, .size = room};
		a->top = chunk;
	}
	p = chunk->data + chunk->used;
	chunk->used += size;
	return p;
}

char *arena_copy(struct arena *a, const char *s, size_t n)
{
	char *copy = arena_alloc(a, n + 1);

	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

/*
 * An empty arena has the mark {NULL, 0}, which callers may also write themselves to release
 * everything.
 */
struct arena_mark arena_mark(struct arena *a)
{
	return (struct arena_mark){a->top, a->top ? a->top->used : 0};
}

void arena_release(struct arena *a, struct arena_mark mark)
{
	/* Chunks above the mark's go; within that chunk only the count of used bytes goes back. */
	while (a->top != mark.chunk) {
		struct arena_chunk *chunk = a->top;

		a->top = chunk->below;
		free(chunk);
	}
	if (a->top)
		a->top->used = mark.used;
}
