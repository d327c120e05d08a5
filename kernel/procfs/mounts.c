/* /proc/<pid>/mounts and mountinfo, as the reader sees them from its own root. */
#include "internal.h"

#include <mm/page.h>
#include <uapi/mount.h>

#define BLANKS " \t\n\\" /* what would end a column */

/* Where a mount is seen, in `page`; NULL: nowhere below the reader's root. */
static const char *mount_place(const struct mount *mnt, char *page)
{
	struct path root = {(struct mount *)mnt, mnt->mnt_root};
	char *where = d_path(&root, page, PAGE_SIZE);

	return IS_ERR(where) ? NULL : where;
}

static void show_flags(struct seq_file *m, const struct mount *mnt)
{
	unsigned f = mnt->mnt_flags;

	seq_printf(m, "%s%s%s%s%s", f & MS_RDONLY ? "ro" : "rw", f & MS_NOSUID ? ",nosuid" : "",
		   f & MS_NODEV ? ",nodev" : "", f & MS_NOEXEC ? ",noexec" : "", f & MS_NOATIME ? ",noatime" : "");
}

static void show_super_options(struct seq_file *m, const struct mount *mnt)
{
	if (mnt->mnt_sb->s_op && mnt->mnt_sb->s_op->show_options)
		mnt->mnt_sb->s_op->show_options(m, mnt->mnt_sb);
}

/* Source, place, type, options. */
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

/*
 * Number, parent's number, device, root within the file system (always all of it: nothing can be bound),
 * place, the mount's options; then type, source, the file system's options. Nothing is read-only but mounts.
 */
static void show_mountinfo(struct seq_file *m, const struct mount *mnt, const char *where)
{
	const struct mount *parent = mnt->mnt_at.mnt ? mnt->mnt_at.mnt : mnt;
	u64 dev = mnt->mnt_sb->s_dev;

	seq_printf(m, "%u %u %u:%u / ", mnt->mnt_id, parent->mnt_id, (unsigned)(dev >> 20), (unsigned)(dev & 0xfffff));
	seq_escape(m, where, BLANKS);
	seq_putc(m, ' ');
	show_flags(m, mnt);
	seq_printf(m, " - %s ", mnt->mnt_sb->s_type->name);
	seq_escape(m, mnt->mnt_source, BLANKS);
	seq_puts(m, " rw");
	show_super_options(m, mnt);
	seq_putc(m, '\n');
}

static int show_each(struct seq_file *m, void (*show)(struct seq_file *m, const struct mount *mnt, const char *where))
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
	return show_each(m, show_mount);
}

static int mountinfo_show(struct seq_file *m, struct task_struct *t)
{
	return show_each(m, show_mountinfo);
}

static const struct proc_pid_entry mounts_entry = {.name = "mounts", .mode = 0444, .show = mounts_show};
static const struct proc_pid_entry mountinfo_entry = {.name = "mountinfo", .mode = 0444, .show = mountinfo_show};
REGISTER_PROC_PID(mounts_entry);
REGISTER_PROC_PID(mountinfo_entry);
