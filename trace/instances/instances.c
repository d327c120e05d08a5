/*
 * instances/: mkdir makes a trace array with everything of its own, rmdir frees it.
 *
 * An array is used by its files alone, so rmdir need not count users: it takes all names of the tree away in
 * one step, unless one is in use (simple_remove_unused). From then on the array is ours alone, but for what it has
 * started itself, which is stopped.
 */
#include <fs/libfs.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <trace/tracepoint.h>

#include "core/tracer.h"
#include "tracefs/refused.h"
#include "instances.h"

/*
 * What the array has started ends. event_mutex held.
 *
 * A function command or a trigger may switch an event of the array from any CPU. So all of these go first, and a grace
 * period ends those that are under way. Only then the events are switched off: whether an event is on is a bit that a
 * command also stores to, and a command that ran later would hide the event from its own removal.
 */
static void trace_array_stop(struct trace_array *tr)
{
	const struct trace_part *part;

	for_each_in_table(trace_parts, part)
		if (part->unhook)
			part->unhook(tr);
	synchronize_rcu();
	for_each_in_table(trace_parts, part)
		if (part->stop)
			part->stop(tr);
}

/*
 * The array is about to be freed, and nothing may lead to it. Where something does, freed memory would be used much
 * later and elsewhere, so this says what it is.
 */
static void warn_of_leftovers(const struct trace_array *tr)
{
	const char *left = tracepoint_with_data(tr, sizeof(*tr));
	const struct trace_part *part;

	for_each_in_table(trace_parts, part)
		if (part->left && !left)
			left = part->left(tr);
	if (left)
		pr_err("tracing: instance %s ends, and still has %s\n", tr->name, left);
	WARN_ON(left);
}

/* Ends all that the array has started, and frees it. No file of it is left. Takes event_mutex and trace_types_lock. */
static void trace_array_destroy(struct trace_array *tr)
{
	mutex_lock(&event_mutex);
	trace_array_stop(tr);
	mutex_lock(&trace_types_lock);
	tracing_set_tracer(tr, nop_trace.name, NULL);
	trace_options_free(tr);
	list_del(&tr->list);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
	tracepoint_synchronize_unregister(); /* probes write to the buffer */
	warn_of_leftovers(tr);
	trace_pid_free(tr);
	trace_array_free(tr);
	kfree(tr->name);
	kfree(tr);
}

static bool name_is_taken(const char *name)
{
	struct trace_array *tr;
	bool taken = false;

	mutex_lock(&trace_types_lock);
	for_each_trace_array(tr)
		taken |= tr->name && !strcmp(tr->name, name);
	mutex_unlock(&trace_types_lock);
	return taken;
}

/*
 * After an error nothing is left. Two calls cannot run at the same time, or two arrays could get one name: at boot
 * there is one task, and later the caller holds the i_lock of the directory instances.
 */
struct trace_array *trace_array_create(const char *name)
{
	struct trace_array *tr = name_is_taken(name) ? ERR_PTR(-EEXIST) : kzalloc(sizeof(*tr), GFP_KERNEL);
	int ret;

	if (IS_ERR(tr))
		return tr;
	if (!tr)
		return ERR_PTR(-ENOMEM);
	tr->name = kstrdup(name, GFP_KERNEL);
	tr->current_trace = &nop_trace;
	tr->trace_flags = TRACE_DEFAULT_FLAGS;
	tr->tracing_enabled = tr->buffer_expanded = true;
	init_waitqueue_head(&tr->wait);
	if (!tr->name || trace_array_init(tr, trace_buf_size)) {
		trace_array_free(tr);
		kfree(tr->name);
		kfree(tr);
		return ERR_PTR(-ENOMEM);
	}
	mutex_lock(&event_mutex);
	mutex_lock(&trace_types_lock);
	tracing_reset(tr, RING_BUFFER_ALL_CPUS);
	list_add_tail(&tr->list, &global_trace.list);
	trace_array_changed(tr, TRACE_CHANGED_OPTIONS); /* some may have been switched while the array was not listed */
	ret = trace_options_inherit(tr);
	mutex_unlock(&trace_types_lock);
	mutex_unlock(&event_mutex);
	if (!ret)
		return tr;
	trace_array_destroy(tr);
	return ERR_PTR(ret);
}

static void refuse_instance(const char *name, int ret)
{
	if (ret == -ENOMEM)
		tracefs_refused_name("instances", name,
				     "not enough memory for its buffers; trace_buf_size= at boot makes them smaller");
	else if (ret == -EBUSY)
		tracefs_refused_name("instances", name, "it is in use: somebody has a file of it open or stands in it");
}

/* The i_lock of instances is held, as for instance_rmdir(). All files of the new array appear at one moment. */
static int instance_mkdir(struct inode *dir, struct dentry *dentry, mode_t mode)
{
	struct trace_array *tr = trace_array_create(dentry->d_name.name);
	int ret;

	if (IS_ERR(tr)) {
		refuse_instance(dentry->d_name.name, PTR_ERR(tr));
		return PTR_ERR(tr);
	}
	tr->dir = simple_prepare_dir(dentry, 0750);
	ret = IS_ERR(tr->dir) ? PTR_ERR(tr->dir) : create_array_dir(tr);
	if (!ret) {
		simple_publish_dir(dentry, tr->dir);
		return 0;
	}
	if (!IS_ERR(tr->dir)) {
		simple_remove_unused(tr->dir);
		dput(tr->dir);
	}
	trace_array_destroy(tr);
	refuse_instance(dentry->d_name.name, ret);
	return ret;
}

static struct trace_array *array_of_dir(const struct dentry *dir)
{
	struct trace_array *tr;

	mutex_lock(&trace_types_lock);
	for_each_trace_array(tr)
		if (tr->dir == dir)
			break;
	mutex_unlock(&trace_types_lock);
	return tr;
}

/*
 * An instance goes without counting its users.
 *
 * rmdir instances/x frees buffers, filters and events that any open file of the instance leads to, while others open,
 * read and list. There is no count of users to raise in each open, which could be forgotten in one. A user comes by a
 * name, and holds the dentry that it found from then to the end of release. So simple_remove_unused() looks, under
 * dcache_lock, whether any dentry below has more references than the tree's own (its pin, and one for each child), and
 * if none has, takes all names away before it lets go of the lock. A first reference comes from a look-up, which needs
 * that lock; a second one needs a task that has a first. What could come between:
 *
 * A walk without references. Between its steps a walk holds dcache_lock. Where it must sleep (a look-up in events,
 * whose entries are computed), it has a reference to the directory, and the new dentry has one to its parent: busy.
 *
 * A reader of a directory. ls stands on an entry, with a reference, while it copies to its user, and goes on along the
 * list from there: that entry is busy. At an entry of the instance's own directory it holds that one's i_lock, as rmdir
 * does.
 *
 * Somebody's current directory. Below the instance it is busy. The instance itself may be one: there its i_nlink is 0,
 * under its i_lock, so that no look-up in it makes anything.
 *
 * The tree in the making. mkdir fills a directory that is not hashed, and hashes it when all is there. So no task sees
 * half of it, and when memory runs out in the middle no task can be in the way of removing it.
 *
 * After that only what the array itself has started is left. What may switch something from traced code goes first
 * (trace_array_stop). Its events, tracer and options are switched off as the files would do it, a grace period waits
 * for probes, the timer of poll is cancelled. Its function tracer is never called straight from ftrace_caller, so no
 * call is under way when it has been unregistered.
 *
 * Calls that function_graph has hooked for it may be open for as long as their tasks sleep, and return when the array
 * is freed. Their frames do not point to it: they have a bit, by which a return looks for the user in fgraph_users,
 * with preemption off. It finds no user, or one that came later: that one's `since` is above the frame's key, so it is
 * passed over. A CPU that found the user before goes on with it and with its array's buffer; the grace period at the
 * end of unregister_ftrace_graph waits for that CPU, and only then does graph_trace_reset return to its caller, which
 * frees. What the array had in each task (depth, limits, overruns) is part of the task's shadow stack, and begins with
 * zeros for the next user of that bit.
 */
static int instance_rmdir(struct inode *dir, struct dentry *dentry)
{
	struct trace_array *tr = array_of_dir(dentry);
	int ret = tr ? simple_remove_unused(dentry) : -ENOENT;

	if (!ret)
		trace_array_destroy(tr);
	else
		refuse_instance(dentry->d_name.name, ret);
	return ret;
}

static const struct inode_operations instances_iops = {
	.lookup = simple_lookup,
	.create = simple_no_create,
	.mkdir = instance_mkdir,
	.rmdir = instance_rmdir,
};

/*
 * trace_part.make_files: the directory instances, of the top array. Arrays that the command line has made get their
 * directories now. After an error the mount fails.
 */
static int create_instances_dir(struct trace_array *top)
{
	struct trace_array *tr;
	struct dentry *d;
	int ret;

	if (!trace_array_is_top(top))
		return 0;
	d = simple_create_dir(top->dir, "instances", 0750, &instances_iops);
	ret = IS_ERR(d) ? (int)PTR_ERR(d) : 0;

	/*
	 * Arrays that the command line made. The list cannot change: no instance is made or removed before we return.
	 */
	for_each_trace_array(tr) {
		if (ret || trace_array_is_top(tr))
			continue;
		tr->dir = simple_create_dir(d, tr->name, 0750, NULL);
		ret = IS_ERR(tr->dir) ? (int)PTR_ERR(tr->dir) : create_array_dir(tr);
	}
	return ret;
}

static const struct trace_part instances_part = {.make_files = create_instances_dir};
REGISTER_TRACE_PART(instances_part);
