/*
 * tracefs: the file system of tracing's control files, and the directory of each array in it.
 *
 * Files come from the table `tracefs`, to which each source adds its own, and from the parts of an array (struct
 * trace_part), which make what is not the same for all. The top array has the root of the file system; an instance has
 * a directory below instances/. All files of an array are made with it, at boot or by mkdir in instances/.
 */
#include <fs/libfs.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <mm/slab.h>
#include <uapi/statfs.h>

#include "tracefs/tracefs.h"
#include "tracer.h"

/*
 * Make those files of the table that belong to this kind of directory (`where`, TRACEFS_*). Their i_private is `which`:
 * the array and the CPU that they are about. 0, or the first error.
 */
static int create_files(struct dentry *dir, struct trace_cpu_file *which, unsigned where)
{
	const struct tracefs_file *f;
	int ret = 0;

	for_each_in_table(tracefs, f)
		if (!ret && f->where & where)
			ret = text_file_create_in(dir, "", &f->file, which, 0750);
	return ret;
}

/* per_cpu/cpuN for each CPU that may ever be there, so that the files of one that comes later exist already. */
static int create_percpu_dirs(struct trace_array *tr)
{
	unsigned cpu;
	int ret = 0;

	tr->percpu_dir = simple_create_dir(tr->dir, "per_cpu", 0750, NULL);
	if (IS_ERR(tr->percpu_dir))
		return PTR_ERR(tr->percpu_dir);
	for_each_possible_cpu(cpu) {
		char name[16];
		struct dentry *dir;

		scnprintf(name, sizeof(name), "cpu%u", cpu);
		dir = simple_create_dir(tr->percpu_dir, name, 0750, NULL);
		if (IS_ERR(dir))
			return PTR_ERR(dir);
		tr->files[cpu] = (struct trace_cpu_file){tr, cpu};
		ret = create_files(dir, &tr->files[cpu], TRACEFS_PER_CPU);
		if (ret)
			return ret;
	}
	return ret;
}

/*
 * Make all files of an array in tr->dir: those of the table, per_cpu/, options/, and what the parts have of their
 * own. After an error some files are there and others are not. The caller removes the directory with all that is in
 * it, or, of the top array, the mount of tracefs fails. May sleep.
 */
int create_array_dir(struct trace_array *tr)
{
	const struct trace_part *part;
	struct trace_cpu_file *all;
	int ret;

	tr->files = kcalloc(nr_cpu_ids + 1, sizeof(*tr->files), GFP_KERNEL);
	if (!tr->files)
		return -ENOMEM;
	all = &tr->files[nr_cpu_ids];
	*all = (struct trace_cpu_file){tr, RING_BUFFER_ALL_CPUS_FILE};
	ret = create_files(tr->dir, all, TRACEFS_ARRAY | (trace_array_is_top(tr) ? TRACEFS_TOP : 0));
	if (!ret)
		ret = create_percpu_dirs(tr);
	if (!ret)
		ret = create_options_dir(tr);
	for_each_in_table(trace_parts, part)
		if (part->make_files && !ret)
			ret = part->make_files(tr);
	return ret;
}

/* Once, when it is mounted first: tracefs has one super block, however often it is mounted. */
static int tracefs_fill_super(struct super_block *sb, const char *options)
{
	static struct iattr given; /* [mount_mutex] */
	int ret = simple_fill_owned(sb, TRACEFS_MAGIC, &given, options);

	if (ret)
		return ret;
	/* `echo 1 > tracing_onn` is a missing file, not a lack of permission: no file can be made here. */
	sb->s_create_error = -ENOENT;
	global_trace.dir = sb->s_root;
	return create_array_dir(&global_trace);
}

static const struct file_system_type tracefs_type = {
	.name = "tracefs",
	.single = true,
	.nodev = true,
	.fill_super = tracefs_fill_super,
};
REGISTER_FILESYSTEM(tracefs_type);
