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

#include <fs/libfs.h>
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

/* Does this file system have a limit of its size? As on Linux, ramfs has none, so it takes no options for it. */
static bool has_size(const struct super_block *sb)
{
	return strcmp(sb->s_type->name, "ramfs");
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

	if (!has_size(sb))
		return 0;
	if (usage->page_limit != USAGE_DEFAULT)
		seq_printf(m, ",size=%luk", option_of(usage->page_limit) * (PAGE_SIZE / 1024));
	if (usage->inode_limit != USAGE_DEFAULT)
		seq_printf(m, ",nr_inodes=%lu", option_of(usage->inode_limit));
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
	mode_t mode; /* of the root directory */
	u64 pages, inodes;
};

/* One option: mode= and, where the file system has a size, size= and nr_inodes=. 0 or -EINVAL. */
static int parse_option(const struct super_block *sb, const char *option, struct wish *wish)
{
	unsigned v;

	if (!strncmp(option, "mode=", 5)) {
		if (kstrtouint(option + 5, 8, &v) || v > 07777)
			return -EINVAL;
		wish->mode = v;
		return 0;
	}
	if (!has_size(sb))
		return -EINVAL;
	if (!strncmp(option, "size=", 5))
		return parse_size(option + 5, &wish->pages);
	if (!strncmp(option, "nr_inodes=", 10))
		return parse_count(option + 10, &wish->inodes);
	return -EINVAL;
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
int ramfs_init_usage(struct super_block *sb, const char *options, mode_t *mode)
{
	struct ramfs_usage *usage = kzalloc(sizeof(*usage), GFP_KERNEL);
	u64 limit = has_size(sb) ? USAGE_DEFAULT : USAGE_UNLIMITED;
	struct wish wish = {.mode = *mode, .pages = limit, .inodes = limit};
	int err;

	if (!usage)
		return -ENOMEM;
	sb->s_fs_info = usage;
	err = parse_options(sb, options, &wish);
	usage->page_limit = wish.pages;
	usage->inode_limit = wish.inodes;
	*mode = wish.mode;
	return err;
}

/*
 * New limits; those that are not named stay. mode= is taken and changes nothing, as on tmpfs, since the directory has a
 * mode already. A page that is charged meanwhile is judged by the old limit, which does no harm: it is counted.
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
