/*
 * What the files of one ramfs may have together, and have: the size of a file system that lives in memory.
 *
 * Two things make a write fail with ENOSPC while the machine can still start programs: the file system's own limit
 * (half of memory for the root file system and tmpfs, or size=), and the last sixteenth of memory, which is never given
 * to files, however many file systems there are.
 *
 * The counts are atomic and have no lock. A charge adds first and takes back what is too much, so several CPUs cannot
 * pass a limit together.
 */
#include "ramfs.h"

#include <fs/kstat.h>
#include <fs/seq_file.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <uapi/statfs.h>

static struct ramfs_usage *usage_of(const struct super_block *sb)
{
	return sb->s_fs_info;
}

/*
 * A limit as a number. "Half of memory" is worked out at each use, since memory grows: boot frees the initrd's pages.
 */
static u64 limit_now(const u64 *limit)
{
	u64 v = READ_ONCE(*limit);

	return v == USAGE_DEFAULT ? totalram_pages() / 2 : v;
}

/* Count one more, unless the limit is reached. */
static bool charge(atomic64_t *used, const u64 *limit)
{
	if ((u64)atomic64_inc_return(used) <= limit_now(limit))
		return true;
	atomic64_add(-1, used);
	return false;
}

/* Does the machine as a whole have pages for files? */
static bool machine_has_room(void)
{
	return nr_free_pages() > totalreserve_pages();
}

/* Both limits: the machine's last reserve, and this file system's own. False: -ENOSPC for the caller. */
bool ramfs_charge_page(struct super_block *sb)
{
	struct ramfs_usage *usage = usage_of(sb);

	return machine_has_room() && charge(&usage->pages, &usage->page_limit);
}

void ramfs_uncharge_pages(struct super_block *sb, u64 nr)
{
	atomic64_add(-(s64)nr, &usage_of(sb)->pages);
}

/*
 * Names and inodes take memory, too. The out-of-memory killer cannot get it back, since no process owns them, so they
 * are limited as pages are.
 */
bool ramfs_charge_inode(struct super_block *sb)
{
	struct ramfs_usage *usage = usage_of(sb);

	return machine_has_room() && charge(&usage->inodes, &usage->inode_limit);
}

void ramfs_uncharge_inode(struct super_block *sb)
{
	atomic64_add(-1, &usage_of(sb)->inodes);
}

/* What is left; the use may be above a limit that a remount has lowered. */
static u64 ramfs_room(u64 limit, const atomic64_t *used)
{
	return limit - min_t(u64, atomic64_read(used), limit);
}

/* Free is what neither the file system's limit nor the machine forbids. Like Linux, ramfs shows no number of inodes. */
int ramfs_statfs(const struct super_block *sb, struct statfs *to)
{
	const struct ramfs_usage *usage = usage_of(sb);
	u64 pages = limit_now(&usage->page_limit), inodes = limit_now(&usage->inode_limit);
	u64 free = nr_free_pages(), reserve = totalreserve_pages();

	to->f_blocks = min_t(u64, pages, totalram_pages());
	to->f_bfree = to->f_bavail = min_t(u64, ramfs_room(pages, &usage->pages), free - min_t(u64, free, reserve));
	if (inodes == USAGE_UNLIMITED)
		return 0;
	to->f_files = inodes;
	to->f_ffree = ramfs_room(inodes, &usage->inodes);
	return 0;
}

/* Does this file system have a limit of its size? As on Linux, ramfs has none. */
static bool has_size(const struct super_block *sb)
{
	return strcmp(sb->s_type->name, "ramfs");
}

/* In a tmpfs everybody may make files. */
static mode_t default_mode(const struct super_block *sb)
{
	return strcmp(sb->s_type->name, "tmpfs") ? 0755 : 01777;
}

/* A limit in the form of a mount option: 0 means no limit but the machine's own memory. */
static unsigned long option_of(u64 limit)
{
	return limit == USAGE_UNLIMITED ? 0 : limit;
}

/* Only the options that were given, as on tmpfs. */
int ramfs_show_options(struct seq_file *m, struct super_block *sb)
{
	const struct ramfs_usage *usage = usage_of(sb);

	if (has_size(sb) && usage->page_limit != USAGE_DEFAULT)
		seq_printf(m, ",size=%luk", option_of(usage->page_limit) * (PAGE_SIZE / 1024));
	if (has_size(sb) && usage->inode_limit != USAGE_DEFAULT)
		seq_printf(m, ",nr_inodes=%lu", option_of(usage->inode_limit));
	if (usage->root.mode != default_mode(sb))
		seq_printf(m, ",mode=%03o", usage->root.mode);
	if (usage->root.valid & ATTR_UID)
		seq_printf(m, ",uid=%u", usage->root.uid);
	if (usage->root.valid & ATTR_GID)
		seq_printf(m, ",gid=%u", usage->root.gid);
	return 0;
}

void ramfs_put_super(struct super_block *sb)
{
	kfree(sb->s_fs_info);
}

/*
 * The number that memparse() has read up to `end`, as a limit; 0 means no limit. -EINVAL when the text goes on, has no
 * number, or the number is too large.
 */
static int make_limit(u64 n, const char *text, const char *end, u64 *limit)
{
	if (*end || end == text || n > (u64)1 << 62)
		return -EINVAL;
	*limit = n ? n : USAGE_UNLIMITED;
	return 0;
}

/* Bytes, with or without a unit, or a share of memory ("50%"); rounded up to pages. */
static int parse_size(const char *text, u64 *pages)
{
	char *end;
	u64 bytes = memparse(text, &end);

	if (*end == '%' && bytes <= 100) {
		bytes = totalram_pages() * bytes / 100 * PAGE_SIZE;
		end++;
	}
	return bytes > (u64)1 << 62 ? -EINVAL : make_limit(DIV_ROUND_UP(bytes, PAGE_SIZE), text, end, pages);
}

/* A number with or without a unit (k, m, g), 0 for no limit. 0 or -EINVAL. */
static int parse_count(const char *text, u64 *count)
{
	char *end;
	u64 n = memparse(text, &end);

	return make_limit(n, text, end, count);
}

/* The options of a mount or remount, before they come into force. */
struct wish {
	struct iattr root; /* of the root directory: mode, uid, gid (valid) */
	u64 pages, inodes;
};

/* What is behind "name=" of an option, or NULL: it is another one. */
static const char *value_of(const char *option, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(option, name, n) && option[n] == '=' ? option + n + 1 : NULL;
}

static int parse_mode(const char *value, struct iattr *root)
{
	unsigned v;

	if (kstrtouint(value, 8, &v))
		return -EINVAL;
	root->mode = v & 07777;
	return 0;
}

/* uid= or gid=. 0 or -EINVAL. */
static int parse_id(const char *value, unsigned attr, struct iattr *root)
{
	unsigned v;

	if (kstrtouint(value, 10, &v) || v == ~0u)
		return -EINVAL;
	*(attr == ATTR_UID ? &root->uid : &root->gid) = v;
	root->valid |= attr;
	return 0;
}

/*
 * One option: mode=, and of tmpfs uid=, gid=, size= in bytes, nr_blocks= in pages, nr_inodes=. huge=never and inode64
 * ask for what is the case anyway. ramfs ignores what it does not know, as on Linux, where it may take the place of a
 * tmpfs. 0 or -EINVAL.
 */
static int parse_option(const struct super_block *sb, const char *option, struct wish *wish)
{
	const char *value = value_of(option, "mode");

	if (value)
		return parse_mode(value, &wish->root);
	if (!has_size(sb))
		return 0;
	if ((value = value_of(option, "size")))
		return parse_size(value, &wish->pages);
	if ((value = value_of(option, "nr_blocks")))
		return parse_count(value, &wish->pages);
	if ((value = value_of(option, "nr_inodes")))
		return parse_count(value, &wish->inodes);
	if ((value = value_of(option, "uid")))
		return parse_id(value, ATTR_UID, &wish->root);
	if ((value = value_of(option, "gid")))
		return parse_id(value, ATTR_GID, &wish->root);
	return !strcmp(option, "huge=never") || !strcmp(option, "inode64") ? 0 : -EINVAL;
}

/* All options, separated by commas. 0, -EINVAL or -ENOMEM. */
static int parse_options(const struct super_block *sb, const char *options, struct wish *wish)
{
	char *copy = kstrdup(options, GFP_KERNEL), *rest = copy, *option;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (option = strsep(&rest, ",")))
		if (*option)
			err = parse_option(sb, option, wish);
	kfree(copy);
	return err;
}

/*
 * The structure is hung on the super block before the options are read: after a failure, destroying the super block
 * frees it.
 */
int ramfs_init_usage(struct super_block *sb, const char *options)
{
	struct ramfs_usage *usage = kzalloc(sizeof(*usage), GFP_KERNEL);
	u64 limit = has_size(sb) ? USAGE_DEFAULT : USAGE_UNLIMITED;
	struct wish wish = {.root = {.mode = default_mode(sb)}, .pages = limit, .inodes = limit};
	int err;

	if (!usage)
		return -ENOMEM;
	sb->s_fs_info = usage;
	err = parse_options(sb, options, &wish);
	usage->page_limit = wish.pages;
	usage->inode_limit = wish.inodes;
	usage->root = wish.root;
	return err;
}

/*
 * New limits; those that are not named stay. mode=, uid= and gid= are taken and change nothing, as on tmpfs, since the
 * directory exists already. A page that is charged meanwhile is judged by the old limit, which does no harm: it is
 * counted.
 */
int ramfs_remount(struct super_block *sb, const char *options)
{
	struct ramfs_usage *usage = usage_of(sb);
	struct wish wish = {.pages = usage->page_limit, .inodes = usage->inode_limit};
	int err = parse_options(sb, options, &wish);

	if (err)
		return err;
	if (atomic64_read(&usage->pages) > limit_now(&wish.pages) ||
	    atomic64_read(&usage->inodes) > limit_now(&wish.inodes))
		return -EINVAL;
	WRITE_ONCE(usage->page_limit, wish.pages);
	WRITE_ONCE(usage->inode_limit, wish.inodes);
	return 0;
}
