/* Crashes to order: debugfs's provoke-crash/DIRECT takes the name of a fault and commits it, as Linux's lkdtm
 * does. */
#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <uapi/mman.h>

/* Each is a function of its own, so that the backtrace says which it was. Context: the writer's, nothing
 * held. */
struct crashtype {
	const char *name;
	void (*func)(void);
};

static void noinline lkdtm_PANIC(void)
{
	panic("dumptest");
}

static void noinline lkdtm_BUG(void)
{
	BUG();
}

static void noinline lkdtm_WARNING(void)
{
	WARN_ON(true);
	barrier(); /* no jump into what prints it: our frame shall be seen */
}

/* The compiler may not know that it is NULL: what it can prove wrong it leaves out. */
static void noinline lkdtm_ACCESS_NULL(void)
{
	volatile int *volatile null = NULL;

	/* cppcheck-suppress nullPointer ; this fault is what is ordered */
	*null = 0;
}

static const int rodata_word = 1;

static void noinline lkdtm_WRITE_RO(void)
{
	int *volatile ro = (int *)&rodata_word;

	WRITE_ONCE(*ro, 2);
}

static unsigned data_words[4];

static void noinline lkdtm_EXEC_DATA(void)
{
	void (*volatile func)(void) = (void (*)(void))data_words;

	func();
	barrier();
}

/* A page of the writer's own memory that begins with a copy of a function; NULL when there is none to be had.
 */
static void *map_user_page(void (*func)(void))
{
	long addr = do_mmap(current->mm, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, 0);

	if (addr < 0 || copy_to_user((void *)addr, (const void *)func, 64))
		return NULL;
	return (void *)addr;
}

/* Where the machine cannot tell such an access from one that was meant, it is good. */
static void noinline lkdtm_ACCESS_USERSPACE(void)
{
	volatile long *user = map_user_page(lkdtm_PANIC);

	if (user && *user)
		pr_err("FAIL: survived bad read\n");
}

static notrace noinline void do_nothing(void)
{
}

static void noinline lkdtm_EXEC_USERSPACE(void)
{
	void (*volatile func)(void) = map_user_page(do_nothing);

	if (!func)
		return;
	func();
	pr_err("FAIL: func returned\n");
}

/* Down to the guard page. What is read after the call keeps it from becoming a jump. */
static int noinline lkdtm_EXHAUST_STACK_step(unsigned depth)
{
	volatile char room[256];

	room[0] = (char)depth;
	return depth ? lkdtm_EXHAUST_STACK_step(depth - 1) + room[0] : 0;
}

static void noinline lkdtm_EXHAUST_STACK(void)
{
	lkdtm_EXHAUST_STACK_step(1U << 20);
}

/* Given back twice. Without slub_debug on the command line it is the next allocations that go wrong. */
static void noinline lkdtm_SLAB_FREE_DOUBLE(void)
{
	void *object = kmalloc(64, GFP_KERNEL);

	kfree(object);
	/* cppcheck-suppress doubleFree ; this fault is what is ordered */
	kfree(object);
	barrier(); /* no jump: it is we who give it back */
}

/* The kernel says so, and goes on. */
static void noinline lkdtm_SCHEDULE_ATOMIC(void)
{
	preempt_disable();
	schedule();
	preempt_enable();
}

static const struct crashtype crashtypes[] = {
	{"PANIC", lkdtm_PANIC},
	{"BUG", lkdtm_BUG},
	{"WARNING", lkdtm_WARNING},
	{"ACCESS_NULL", lkdtm_ACCESS_NULL},
	{"WRITE_RO", lkdtm_WRITE_RO},
	{"EXEC_DATA", lkdtm_EXEC_DATA},
	{"EXEC_USERSPACE", lkdtm_EXEC_USERSPACE},
	{"ACCESS_USERSPACE", lkdtm_ACCESS_USERSPACE},
	{"EXHAUST_STACK", lkdtm_EXHAUST_STACK},
	{"SLAB_FREE_DOUBLE", lkdtm_SLAB_FREE_DOUBLE},
	{"SCHEDULE_ATOMIC", lkdtm_SCHEDULE_ATOMIC},
};

static int direct_entry(char *text, void *data)
{
	for (unsigned i = 0; i < ARRAY_SIZE(crashtypes); i++)
		if (!strcmp(text, crashtypes[i].name)) {
			crashtypes[i].func();
			return 0; /* a warning comes back, and what the machine cannot prevent */
		}
	return -EINVAL;
}

static int show_types(struct seq_file *m, void *unused)
{
	seq_puts(m, "Available crash types:\n");
	for (unsigned i = 0; i < ARRAY_SIZE(crashtypes); i++)
		seq_printf(m, "%s\n", crashtypes[i].name);
	return 0;
}

static const struct text_file direct_file = {
	.path = "provoke-crash/DIRECT", .mode = 0600, .show = show_types, .store = direct_entry};
REGISTER_DEBUGFS(direct_file);
