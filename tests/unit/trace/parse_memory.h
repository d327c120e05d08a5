/* Memory for parsers under test: counted, and short on request. Include once, behind the code that is tested. */
#pragma once

static long allocations_left = -1, allocated;

static void *get_memory(size_t size)
{
	if (allocations_left == 0)
		return NULL;
	allocations_left -= allocations_left > 0;
	allocated++;
	return calloc(1, size);
}
void *kmalloc(size_t size, gfp_t gfp)
{
	return get_memory(size);
}
void *kzalloc(size_t size, gfp_t gfp)
{
	return get_memory(size);
}
void *kvzalloc(size_t size, gfp_t gfp)
{
	return get_memory(size);
}
void kfree(const void *p)
{
	allocated -= p != NULL;
	free((void *)p);
}
void kvfree(const void *p)
{
	kfree(p);
}
char *kstrndup(const char *s, size_t max, gfp_t gfp)
{
	size_t len = strnlen(s, max);
	char *copy = get_memory(len + 1);

	return copy ? memcpy(copy, s, len) : NULL;
}
char *kstrdup(const char *s, gfp_t gfp)
{
	return kstrndup(s, strlen(s), gfp);
}
