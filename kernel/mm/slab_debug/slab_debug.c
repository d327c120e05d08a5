/*
 * slab_debug: finds writes outside an object, writes to a freed object, and double frees, and names the last owners.
 *
 * Around each object lie redzones, filled with 0xcc while it is allocated and with 0xbb while it is free. A free object
 * is filled with 0x6b and ends with 0xa5. These are Linux's values, so what people know about them holds here. Behind
 * the object stand the code addresses and the pids that allocated and freed it last (struct owner).
 *
 * The bytes are checked when an object is allocated and when it is freed. A report names the first wrong byte; then the
 * bytes are restored and the kernel goes on.
 */
#include "../pages/slab.h"

#include <kernel/cmdline.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>

#define RED_ACTIVE   0xcc
#define RED_INACTIVE 0xbb
#define POISON_FREE  0x6b
#define POISON_END   0xa5

/* The parameter takes no value. */
static int set_slab_debug(const char *value)
{
	if (*value)
		return -EINVAL;
	slab_debug_enabled = true;
	return 0;
}
early_param("slab_debug", set_slab_debug);

/*
 * The code and the task that last allocated the object, and that last freed it. Written while no other CPU can see the
 * object.
 */
struct owner {
	unsigned long alloc_addr, free_addr;
	u64 alloc_pid, free_pid;
};

static struct owner *owner_of(const struct kmem_cache *s, const void *object)
{
	return (struct owner *)((char *)object + s->freeptr + sizeof(void *));
}

/* The first byte of [p, p + n) that is not `value`, or NULL. */
static const u8 *first_other(const void *p, u8 value, size_t n)
{
	for (const u8 *b = p; n; n--, b++)
		if (*b != value)
			return b;
	return NULL;
}

/* The first wrong byte of the redzones on both sides, or NULL. */
static const u8 *bad_redzone(const struct kmem_cache *s, const void *object, u8 value)
{
	const u8 *bad = first_other((const u8 *)object - s->left, value, s->left);

	return bad ? bad : first_other((const u8 *)object + s->object_size, value, s->right_end - s->object_size);
}

static void set_redzones(const struct kmem_cache *s, void *object, u8 value)
{
	memset((u8 *)object - s->left, value, s->left);
	memset((u8 *)object + s->object_size, value, s->right_end - s->object_size);
}

/* Fill a free object. What a constructor made must stay, so objects of caches with one are not filled. */
static void poison(const struct kmem_cache *s, void *object)
{
	if (s->ctor)
		return;
	memset(object, POISON_FREE, s->object_size - 1);
	((u8 *)object)[s->object_size - 1] = POISON_END;
}

/* The first byte of a free object that was written to, or NULL. */
static const u8 *bad_poison(const struct kmem_cache *s, const void *object)
{
	const u8 *end = (const u8 *)object + s->object_size - 1, *bad;

	if (s->ctor)
		return NULL;
	bad = first_other(object, POISON_FREE, s->object_size - 1);
	return bad ? bad : *end != POISON_END ? end : NULL;
}

/* At most 64 bytes, 16 on each line. */
static void print_bytes(const char *what, const u8 *p, size_t n)
{
	for (size_t at = 0; at < min(n, (size_t)64); at += 16)
		pr_err("%s %px: %*ph\n", what, p + at, (int)min(n - at, (size_t)16), p + at);
}

static void print_owners(const struct kmem_cache *s, const void *object)
{
	const struct owner *owner = owner_of(s, object);

	if (owner->alloc_addr)
		pr_err("Allocated in %pS pid=%llu\n", (void *)owner->alloc_addr, (unsigned long long)owner->alloc_pid);
	if (owner->free_addr)
		pr_err("Freed in %pS pid=%llu\n", (void *)owner->free_addr, (unsigned long long)owner->free_pid);
}

/* The part of slab_bug()'s report that other caches cannot have: owners and redzones. */
static void slab_debug_print(const struct kmem_cache *s, const void *object)
{
	print_owners(s, object);
	print_bytes("Redzone", (const u8 *)object - s->left, s->left);
	print_bytes("Object ", object, s->object_size);
	print_bytes("Redzone", (const u8 *)object + s->object_size, s->right_end - s->object_size);
}

/* Report a byte that was overwritten; the caller restores it. */
static void bug_at(struct kmem_cache *s, const void *object, const u8 *bad, const char *reason)
{
	slab_bug(s, object, reason);
	pr_err("FIX %s: first wrong byte 0x%02x at offset %ld, restored\n", s->name, *bad, (long)(bad - (u8 *)object));
}

static void slab_debug_new(struct kmem_cache *s, void *object)
{
	set_redzones(s, object, RED_INACTIVE);
	poison(s, object);
	memset(owner_of(s, object), 0, sizeof(struct owner));
}

/* The object leaves the free list: it must look as it did when it was freed. */
static void slab_debug_taken(struct kmem_cache *s, void *object, unsigned long caller)
{
	struct owner *owner = owner_of(s, object);
	const u8 *bad;

	bad = bad_redzone(s, object, RED_INACTIVE);
	if (bad)
		bug_at(s, object, bad, "Redzone overwritten while free");
	bad = bad_poison(s, object);
	if (bad)
		bug_at(s, object, bad, "Poison overwritten");
	set_redzones(s, object, RED_ACTIVE);
	owner->alloc_addr = caller;
	owner->alloc_pid = current->pid;
}

/* Does an object of this cache begin at this address? */
static bool valid_object(const struct kmem_cache *s, const void *object)
{
	const struct page *page = slab_page(object);
	unsigned long offset = (unsigned long)object - (unsigned long)page_to_virt(page);

	return belongs_to(s, object) && offset >= s->left && (offset - s->left) % s->size == 0 &&
	       (offset - s->left) / s->size < page->objects;
}

/*
 * Redzones that say "free" mean a double free, and the object must not enter the list again. A redzone that is wrong in
 * another way was overwritten.
 */
static bool slab_debug_back(struct kmem_cache *s, void *object, unsigned long caller)
{
	struct owner *owner = owner_of(s, object);
	const u8 *bad;

	if (!valid_object(s, object)) {
		pr_err("BUG %s: Invalid object pointer %px, freed in %pS\n", s->name, object, (void *)caller);
		dump_stack();
		return false;
	}
	bad = bad_redzone(s, object, RED_ACTIVE);
	if (bad && !bad_redzone(s, object, RED_INACTIVE)) {
		slab_bug(s, object, "Object already free");
		return false;
	}
	if (bad)
		bug_at(s, object, bad, bad < (u8 *)object ? "Left Redzone overwritten" : "Right Redzone overwritten");
	owner->free_addr = caller;
	owner->free_pid = current->pid;
	poison(s, object);
	set_redzones(s, object, RED_INACTIVE);
	return true;
}

static const struct slab_debugger the_slab_debugger = {
	.setup = slab_debug_new,
	.alloc = slab_debug_taken,
	.free = slab_debug_back,
	.print = slab_debug_print,
};
REGISTER_SLAB_DEBUGGER(the_slab_debugger);
