/*
 * /proc/<pid>/mounts and mountinfo: the mounts as the reader sees them from its own root directory.
 *
 * There is one list of mounts for the whole machine. A mount that does not lie below the reader's root is
 * left out: a process in a chroot does not learn what is outside. Each mount is held by a reference while
 * its line is printed.
 */
#include "internal.h"

#include <mm/page.h>
#include <uapi/mount.h>

/* Characters that would end a column; they are printed as octal escapes such as \040. */
#define BLANKS " \t\n\\"

/* Where a mount is seen, as a path in `page`; NULL: nowhere below the reader's root. */
static const char *mount_place(const struct mount *mnt, char *page)
{
	struct path root = {(struct mount *)mnt, mnt->mnt_root};
	char *where = d_path_below_root(&root, page, PAGE_SIZE);

	return IS_ERR(where) ? NULL : where;
}

/* The options of the mount itself, separated by commas. */
static void show_flags(struct seq_file *m, const struct mount *mnt)
{
	unsigned f = mnt->mnt_flags;

	seq_printf(m, "%s%s%s%s%s", f & MS_RDONLY ? "ro" : "rw", f & MS_NOSUID ? ",nosuid" : "",
		   f & MS_NODEV ? ",nodev" : "", f & MS_NOEXEC ? ",noexec" : "", f & MS_NOATIME ? ",noatime" : "");
}

/* The options of the file system, which all its mounts share. */
static void show_super_options(struct seq_file *m, const struct mount *mnt)
{
	if (mnt->mnt_sb->s_op && mnt->mnt_sb->s_op->show_options)
		mnt->mnt_sb->s_op->show_options(m, mnt->mnt_sb);
}

/* A line of mounts, in the form of fstab: source, place, type, options, and two zeros for dump and fsck. */
static void show_mount(struct seq_file *m, const struct mount *mnt, const char *where)
{
	seq_escape(m, mnt->mnt_source, BLANKS);
	seq_putc(m, ' ');
	seq_escape(m, where, BLANKS);
	seq_printf(m, " %s ", mnt->mnt_sb->s_type->name);
	show_flags(m, mnt);
	show_super_options(m, mnt);
	seq_puts(m, " 0 0\n");
}

/* What the mount shows of its file system, as a path in that. The name is lacking when it is too long for the page. */
static void show_root(struct seq_file *m, const struct mount *mnt)
{
	char *page = get_free_page(GFP_KERNEL), *name = page ? d_path_in_super(mnt->mnt_root, page, PAGE_SIZE) : NULL;

	if (name && !IS_ERR(name))
		seq_escape(m, name, BLANKS);
	free_page(page);
}

/*
 * A line of mountinfo: number, parent's number, device, the root within the file system, place, options of the mount,
 * its propagation type; behind a dash the type, the source and the options of the file system. The root is "/" but for
 * a bind mount, and a file system is always "rw" since only mounts are read-only. Example:
 *
 *     23 1 0:4 / /proc rw,nosuid - proc proc rw
 */
static void show_mountinfo(struct seq_file *m, const struct mount *mnt, const char *where)
{
	u64 dev = mnt->mnt_sb->s_dev;

	seq_printf(m, "%u %u %u:%u ", mnt->mnt_id, mount_parent_id(mnt), (unsigned)(dev >> 20),
		   (unsigned)(dev & 0xfffff));
	show_root(m, mnt);
	seq_putc(m, ' ');
	seq_escape(m, where, BLANKS);
	seq_putc(m, ' ');
	show_flags(m, mnt);
	mount_show_type(m, mnt);
	seq_printf(m, " - %s ", mnt->mnt_sb->s_type->name);
	seq_escape(m, mnt->mnt_source, BLANKS);
	seq_puts(m, " rw");
	show_super_options(m, mnt);
	seq_putc(m, '\n');
}

/*
 * Call `show` for each mount that the reader sees. The i'th mount is looked up by its number each time: a mount that
 * goes meanwhile may make the listing skip one. Returns 0 or -ENOMEM.
 */
static int show_all_mounts(struct seq_file *m,
			   void (*show)(struct seq_file *m, const struct mount *mnt, const char *where))
{
	char *page = get_free_page(GFP_KERNEL);
	const char *where;
	struct mount *mnt;

	if (!page)
		return -ENOMEM;
	for (unsigned i = 0; (mnt = nth_mount(i)); i++) {
		where = mount_place(mnt, page);
		if (where)
			show(m, mnt, where);
		mntput(mnt);
	}
	free_page(page);
	return 0;
}

static int mounts_show(struct seq_file *m, struct task_struct *t)
{
	return show_all_mounts(m, show_mount);
}

static int mountinfo_show(struct seq_file *m, struct task_struct *t)
{
	return show_all_mounts(m, show_mountinfo);
}

static const struct proc_pid_entry mounts_entry = {.name = "mounts", .mode = 0444, .show = mounts_show};
static const struct proc_pid_entry mountinfo_entry = {.name = "mountinfo", .mode = 0444, .show = mountinfo_show};
REGISTER_PROC_PID(mounts_entry);
REGISTER_PROC_PID(mountinfo_entry);
