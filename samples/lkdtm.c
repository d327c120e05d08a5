/*
 * Crashes on demand: debugfs's provoke-crash/DIRECT takes the name of a fault and commits it, as Linux's lkdtm does
 * (Documentation/fault-injection/provoke-crashes.rst). Tests compare what the console then says, and a student sees
 * what an oops looks like:
 *
 *	echo WRITE_RO > /sys/kernel/debug/provoke-crash/DIRECT
 *
 * The compiler knows the language and would leave out or move what it can prove to be wrong. So pointers are volatile
 * here, and functions are not inlined.
 */
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

/* Each fault is a function of its own, so that the backtrace names it. Context: the writer's thread, nothing held. */
struct crashtype {
	const char *name;
	void (*func)(void);
};

/* The message is that of Linux's lkdtm. */
static void noinline lkdtm_PANIC(void)
{
	panic("dumptest");
}

static void noinline lkdtm_BUG(void)
{
	BUG();
}

/*
 * A warning prints a backtrace and returns. The barrier keeps the call from becoming a jump, since our frame must be in
 * the backtrace.
 */
static void noinline lkdtm_WARNING(void)
{
	WARN_ON(true);
	barrier();
}

/* The compiler may not know that the pointer is NULL. */
static void noinline lkdtm_ACCESS_NULL(void)
{
	volatile int *volatile null = NULL;

	/* cppcheck-suppress nullPointer ; this fault is what is ordered */
	*null = 0;
}

static const int rodata_word = 1;

/* Read-only data is mapped without write permission; a write must fault. */
static void noinline lkdtm_WRITE_RO(void)
{
	int *volatile ro = (int *)&rodata_word;

	WRITE_ONCE(*ro, 2);
}

static unsigned data_words[4];

/* Data is mapped not executable: the fault is at the address of data_words, with this function as the caller. */
static void noinline lkdtm_EXEC_DATA(void)
{
	void (*volatile func)(void) = (void (*)(void))data_words;

	func();
	barrier();
}

/*
 * A page of the writer's own memory that begins with a copy of a function, readable, writable and executable by user
 * mode. NULL: there is no memory. It goes with the process.
 */
static void *map_user_page(void (*func)(void))
{
	long addr = do_mmap(current->mm, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, 0);

	if (addr < 0 || copy_to_user((void *)addr, (const void *)func, 64))
		return NULL;
	return (void *)addr;
}

/*
 * The kernel may read user memory only through copy_from_user() and its like; SMAP on x86_64 and PAN on aarch64 make
 * any other read fault. A CPU that has neither lets it pass.
 */
static void noinline lkdtm_ACCESS_USERSPACE(void)
{
	volatile long *user = map_user_page(lkdtm_PANIC);

	if (user && *user)
		pr_err("FAIL: survived bad read\n");
}

static notrace noinline void do_nothing(void)
{
}

/* SMEP on x86_64, and PXN in the page's entry on aarch64, keep the kernel from executing user memory. */
static void noinline lkdtm_EXEC_USERSPACE(void)
{
	void (*volatile func)(void) = map_user_page(do_nothing);

	if (!func)
		return;
	func();
	pr_err("FAIL: func returned\n");
}

/* Recursion down to the guard page below the stack. What is read after the call keeps it from becoming a jump. */
static int noinline lkdtm_EXHAUST_STACK_step(unsigned depth)
{
	volatile char room[256];

	room[0] = (char)depth;
	return depth ? lkdtm_EXHAUST_STACK_step(depth - 1) + room[0] : 0;
}

/* Some 300 MB, far more than any stack. */
static void noinline lkdtm_EXHAUST_STACK(void)
{
	lkdtm_EXHAUST_STACK_step(1U << 20);
}

/*
 * An object is given back twice. With slub_debug on the command line that is found at once; without it the next
 * allocations go wrong.
 */
static void noinline lkdtm_SLAB_FREE_DOUBLE(void)
{
	void *volatile object = kmalloc(64, GFP_KERNEL); /* volatile: gcc refuses what it sees through */

	kfree(object);
	/* cppcheck-suppress doubleFree ; this fault is what is ordered */
	kfree(object);
	barrier(); /* no jump: it is we who give it back */
}

/* The kernel says so and goes on, as the preempt_count belongs to the task. */
static void noinline lkdtm_SCHEDULE_ATOMIC(void)
{
	preempt_disable();
	schedule();
	preempt_enable();
}

/* A task that nothing wakes, and that no signal ends. Its process stays until the machine is switched off. */
static void noinline lkdtm_HUNG_TASK(void)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule();
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
	{"HUNG_TASK", lkdtm_HUNG_TASK},
};

/* 0 when the fault was survived; -EINVAL: no such name. */
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
