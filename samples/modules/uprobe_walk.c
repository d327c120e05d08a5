/*
 * uprobes on many instructions of a file, while programs run: at the offsets that `list` has, as words of 32 bits;
 * `batch` probes at a time, each batch for `ms` milliseconds, `rounds` times over. In the end /proc/uprobe_walk says
 * how many instructions were probed, how many were refused, and how often they were hit. With ms=0 there is one batch,
 * of all, which stays until the module goes. Programs compute what they always do.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uprobes.h>

MODULE_LICENSE("GPL");

#define MAX_PLACES 65536u

static char *path = "/bin/sh", *list = "/offsets";
module_param(path, charp, 0444);
module_param(list, charp, 0444);
static unsigned int batch = 64, ms = 10, rounds = 1;
module_param(batch, uint, 0444);
module_param(ms, uint, 0444);
module_param(rounds, uint, 0444);
static bool returns; /* as if each instruction were the first of a function: only where it is one */
module_param(returns, bool, 0444);

struct place {
	struct uprobe_consumer consumer;
	struct uprobe *probe;
};
static struct place *places;
static u32 *offsets;
static unsigned int nr_places;
static struct file *file;
static atomic64_t hits, returned;
static unsigned long probed, refused;
static bool done;
static struct task_struct *walker;

static int hit(struct uprobe_consumer *self, struct pt_regs *regs)
{
	atomic64_inc(&hits);
	return 0;
}

static int after_return(struct uprobe_consumer *self, unsigned long func, struct pt_regs *regs)
{
	atomic64_inc(&returned);
	return 0;
}

static void begin(unsigned int i)
{
	places[i].consumer.handler = hit;
	places[i].consumer.ret_handler = returns ? after_return : NULL;
	places[i].probe = uprobe_register(file, offsets[i], 0, &places[i].consumer);
	if (IS_ERR(places[i].probe))
		refused++;
	else
		probed++;
}

static void end(unsigned int i)
{
	if (!IS_ERR_OR_NULL(places[i].probe))
		uprobe_unregister(places[i].probe, &places[i].consumer);
	places[i].probe = NULL;
}

static void walk_once(void)
{
	for (unsigned int at = 0; at < nr_places && !kthread_should_stop(); at += batch) {
		unsigned int stop = min(at + batch, nr_places);

		for (unsigned int i = at; i < stop; i++)
			begin(i);
		msleep(ms);
		for (unsigned int i = at; i < stop; i++)
			end(i);
	}
}

static int walk(void *unused)
{
	for (unsigned int i = 0; i < rounds && !kthread_should_stop(); i++)
		walk_once();
	WRITE_ONCE(done, true);
	while (!kthread_should_stop())
		msleep(10);
	return 0;
}

static int walk_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s: %lu probed, %lu refused, %lld hits, %lld returns\n", READ_ONCE(done) ? "done" : "walking",
		   probed, refused, atomic64_read(&hits), atomic64_read(&returned));
	return 0;
}

/* 0 or -errno, with offsets and places allocated. */
static int read_list(void)
{
	struct file *f = filp_open(list, O_RDONLY, 0);
	loff_t pos = 0;
	ssize_t got;

	if (IS_ERR(f))
		return PTR_ERR(f);
	offsets = kvmalloc(MAX_PLACES * sizeof(*offsets), GFP_KERNEL);
	got = offsets ? kernel_read(f, offsets, MAX_PLACES * sizeof(*offsets), &pos) : -ENOMEM;
	fput(f);
	if (got < 0)
		return got;
	nr_places = got / sizeof(*offsets);
	places = kvzalloc(nr_places * sizeof(*places), GFP_KERNEL);
	return places ? 0 : -ENOMEM;
}

static void drop_list(void)
{
	kvfree(offsets);
	kvfree(places);
}

/* With ms=0 the places are probed at once and stay; else a thread of its own walks over them. */
static int __init uprobe_walk_init(void)
{
	int err = read_list();

	if (err)
		goto drop;
	file = filp_open(path, O_RDONLY, 0);
	err = PTR_ERR(file);
	if (IS_ERR(file))
		goto drop;
	err = -ENOMEM;
	if (!proc_create_single("uprobe_walk", 0444, NULL, walk_show))
		goto close;
	if (!ms) {
		for (unsigned int i = 0; i < nr_places; i++)
			begin(i);
		done = true;
		return 0;
	}
	walker = kthread_run(walk, NULL, "uprobe_walk");
	if (!IS_ERR(walker))
		return 0;
	err = PTR_ERR(walker);
	remove_proc_entry("uprobe_walk", NULL);
close:
	fput(file);
drop:
	drop_list();
	return err;
}
module_init(uprobe_walk_init);

static void __exit uprobe_walk_exit(void)
{
	remove_proc_entry("uprobe_walk", NULL);
	if (walker)
		kthread_stop(walker);
	for (unsigned int i = 0; i < nr_places; i++)
		end(i);
	fput(file);
	drop_list();
}
module_exit(uprobe_walk_exit);
