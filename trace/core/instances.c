/*
 * instances/: mkdir makes a trace array with everything of its own, rmdir frees it.
 *
 * Who uses an array does so by one of its files, so rmdir need not count users: it takes all names of the tree away in
 * one step, unless one is in use (simple_remove_unused). From then on the array is ours alone, but for what it has
 * started itself, which is stopped.
 */
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/slab.h>
#include <trace/tracepoint.h>

#include "tracefs/refused.h"
#include "tracer.h"

/* No lock. Nobody has a file of it. */
static void trace_array_destroy(struct trace_array *tr)
{
	const struct trace_part *part;

	mutex_lock(&event_mutex);
	for_each_in_table(trace_parts, part)
		if (part->stop)
			part->stop(tr);
	mutex_unlock(&event_mutex);
	mutex_lock(&trace_types_lock);
	tracing_set_tracer(tr, nop_trace.name);
	trace_options_free(tr);
	list_del(&tr->list);
	mutex_unlock(&trace_types_lock);
	tracepoint_synchronize_unregister(); /* probes write to the buffer */
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

/* ERR_PTR, with nothing left. Nobody makes another meanwhile: the boot, or who has instances' i_lock. */
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
	mutex_lock(&trace_types_lock);
	tracing_reset(tr, RING_BUFFER_ALL_CPUS);
	list_add_tail(&tr->list, &global_trace.list);
	trace_array_changed(tr, TRACE_CHANGED_OPTIONS); /* what was switched for all while it was not listed, too */
	ret = trace_options_inherit(tr);
	mutex_unlock(&trace_types_lock);
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

/* i_lock of instances held, as for the next. All files appear at one moment. */
static int instance_mkdir(struct inode *dir, struct dentry *dentry, mode_t mode)
{
	struct trace_array *tr = trace_array_create(dentry->d_name);
	int ret;

	if (IS_ERR(tr)) {
		refuse_instance(dentry->d_name, PTR_ERR(tr));
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
	refuse_instance(dentry->d_name, ret);
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

static int instance_rmdir(struct inode *dir, struct dentry *dentry)
{
	struct trace_array *tr = array_of_dir(dentry);
	int ret = tr ? simple_remove_unused(dentry) : -ENOENT;

	if (!ret)
		trace_array_destroy(tr);
	else
		refuse_instance(dentry->d_name, ret);
	return ret;
}

static const struct inode_operations instances_iops = {
	.lookup = simple_lookup,
	.create = simple_no_create,
	.mkdir = instance_mkdir,
	.rmdir = instance_rmdir,
};

int create_instances_dir(struct dentry *root)
{
	struct dentry *d = simple_create_dir(root, "instances", 0750, &instances_iops);
	struct trace_array *tr;
	int ret = IS_ERR(d) ? (int)PTR_ERR(d) : 0;

	/* The command line's. The list stays as it is: nobody can make or remove one before we return. */
	for_each_trace_array(tr) {
		if (ret || trace_array_is_top(tr))
			continue;
		tr->dir = simple_create_dir(d, tr->name, 0750, NULL);
		ret = IS_ERR(tr->dir) ? (int)PTR_ERR(tr->dir) : create_array_dir(tr);
	}
	return ret;
}
