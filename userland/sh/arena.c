/* Memory that is given back all at once, up to a mark. */
#include "sh.h"

#define CHUNK_SIZE 4000 /* bytes; larger requests get a chunk of their own */

struct arena_chunk {
	struct arena_chunk *below;
	size_t used, size;
	char data[] __attribute__((aligned(16)));
};

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_chunk *chunk = a->top;
	void *p;

	size = (size + 15) & ~(size_t)15;
	if (!chunk || chunk->size - chunk->used < size) {
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

struct arena_mark arena_mark(struct arena *a)
{
	return (struct arena_mark){a->top, a->top ? a->top->used : 0};
}

void arena_release(struct arena *a, struct arena_mark mark)
{
	while (a->top != mark.chunk) {
		struct arena_chunk *chunk = a->top;

		a->top = chunk->below;
		free(chunk);
	}
	if (a->top)
		a->top->used = mark.used;
}
