/*
 * Unpacks the initrd into the root file system: one or more cpio archives in the newc format (cpio(5)), one behind the
 * other. A later archive may replace files of an earlier one. Each entry has a header of text, the name, and the
 * contents, each aligned to four bytes from the beginning of its archive.
 *
 * The archive is not trusted: every length is checked against the end before it is used, and a damaged header ends the
 * unpacking. An entry that cannot be made is reported, and the next one follows.
 *
 * Runs once at boot in process 1, before there is another user of the tree. Names are made with the directory's i_lock
 * held nevertheless, as the operations demand.
 */
#include "../internal.h"

#include <boot/boot_info.h>
#include <fs/libfs.h>
#include <kernel/init.h>
#include <kernel/printk.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <sched/sched.h>
#include <uapi/fcntl.h>

#define CPIO_HEADER 110 /* six bytes of magic and 13 fields of eight hexadecimal digits */
#define CPIO_FIELDS 13
/* The fields of a header, in order. */
enum { C_INO, C_MODE, C_UID, C_GID, C_NLINK, C_MTIME, C_SIZE, C_DEVMAJ, C_DEVMIN, C_RMAJ, C_RMIN, C_NAMESIZE, C_CHECK };

/* The first name of a file that has several: later ones become links to it. */
struct cpio_link {
	struct cpio_link *next;
	u32 ino, major, minor;
	char name[];
};
/* Where the unpacking stands. `at` is the next header; name and data point into the archive. */
struct cpio {
	const char *start, *at, *end;
	u32 field[CPIO_FIELDS];
	const char *name;
	const char *data;
	struct cpio_link *links;
	unsigned files, errors;
};

/* The value of a hexadecimal digit, or -1. */
static int hex_digit(char c)
{
	if (isdigit(c))
		return c - '0';
	return isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

/* Read eight hexadecimal digits. False: another character is among them. */
static bool parse_field(const char *p, u32 *v)
{
	*v = 0;
	for (unsigned i = 0; i < 8; i++) {
		int d = hex_digit(p[i]);

		if (d < 0)
			return false;
		*v = *v << 4 | d;
	}
	return true;
}

/* The next multiple of four bytes from the archive's start. */
static const char *cpio_align(const struct cpio *c, const char *p)
{
	return c->start + ALIGN((unsigned long)(p - c->start), 4);
}

/*
 * Check the header at c->at. Returns what is wrong with it, as text for the message, or NULL: then the fields, the name
 * and the data are set and lie inside the archive.
 */
static const char *parse_header(struct cpio *c)
{
	size_t left = c->end - c->at;

	if (left < CPIO_HEADER)
		return "header cut short";
	if (memcmp(c->at, "070701", 6) && memcmp(c->at, "070702", 6))
		return "no newc header";
	for (unsigned i = 0; i < CPIO_FIELDS; i++)
		if (!parse_field(c->at + 6 + 8 * i, &c->field[i]))
			return "header with bytes that are no digits";
	left -= CPIO_HEADER;
	if (!c->field[C_NAMESIZE] || c->field[C_NAMESIZE] > PATH_MAX || c->field[C_NAMESIZE] > left)
		return "name longer than the archive";
	c->name = c->at + CPIO_HEADER;
	if (c->name[c->field[C_NAMESIZE] - 1])
		return "name without an end";
	c->data = cpio_align(c, c->name + c->field[C_NAMESIZE]);
	if (c->data > c->end || c->field[C_SIZE] > (size_t)(c->end - c->data))
		return "contents longer than the archive";
	return NULL;
}

/*
 * The earlier name of the same file (by device and inode number), or NULL. The first name of several is remembered
 * here. Without memory for that, the names become files of their own, which wastes room but is not wrong.
 */
static const char *find_link(struct cpio *c)
{
	u32 ino = c->field[C_INO], major = c->field[C_DEVMAJ], minor = c->field[C_DEVMIN];
	struct cpio_link *l;

	if (c->field[C_NLINK] < 2 || S_ISDIR(c->field[C_MODE]))
		return NULL;
	for (l = c->links; l; l = l->next)
		if (l->ino == ino && l->major == major && l->minor == minor)
			return l->name;
	l = kmalloc(sizeof(*l) + c->field[C_NAMESIZE], GFP_KERNEL);
	if (!l)
		return NULL;
	*l = (struct cpio_link){.next = c->links, .ino = ino, .major = major, .minor = minor};
	memcpy(l->name, c->name, c->field[C_NAMESIZE]);
	c->links = l;
	return NULL;
}

/* The names are needed no more when the archive has been read. */
static void free_links(struct cpio *c)
{
	struct cpio_link *l;

	while ((l = c->links)) {
		c->links = l->next;
		kfree(l);
	}
}

/* A name that is about to be made, with its directory's i_lock held. */
struct new_name {
	struct nameidata nd;
	struct path parent;
	struct dentry *dentry;
};

/* Give back what new_name_begin() holds. */
static void new_name_end(struct new_name *n)
{
	mutex_unlock(&n->parent.dentry->d_inode->i_lock);
	dput(n->dentry);
	path_put(&n->parent);
	path_free_names(&n->nd);
}

/* Find the directory, lock it, and look the name up. -EEXIST for "." and "/". On failure nothing is held. */
static int new_name_begin(struct new_name *n, const char *name)
{
	int err = path_parentat(&n->nd, AT_FDCWD, name, &n->parent);

	if (err)
		return err;
	mutex_lock(&n->parent.dentry->d_inode->i_lock);
	if (n->nd.last_type == LAST_NORM)
		n->dentry = lookup_one(n->parent.dentry, n->nd.last, n->nd.last_len, n->nd.last_hash);
	else
		n->dentry = ERR_PTR(-EEXIST);
	if (!IS_ERR(n->dentry))
		return 0;
	err = PTR_ERR(n->dentry);
	n->dentry = NULL;
	new_name_end(n);
	return err;
}

/*
 * [i_lock] An older file of that name gives way, because archives are concatenated to replace files; a directory stays.
 * n->dentry is a negative dentry afterwards. 0 or -errno.
 */
static int initramfs_clear_way(struct new_name *n)
{
	struct inode *dir = n->parent.dentry->d_inode;
	struct dentry *d;
	int err;

	if (!n->dentry->d_inode)
		return 0;
	if (S_ISDIR(n->dentry->d_inode->i_mode) || !dir->i_op->unlink)
		return -EEXIST;
	err = dir->i_op->unlink(dir, n->dentry);
	if (err)
		return err;
	d = lookup_one(n->parent.dentry, n->nd.last, n->nd.last_len, n->nd.last_hash);
	if (IS_ERR(d))
		return PTR_ERR(d);
	dput(n->dentry);
	n->dentry = d;
	return 0;
}

/* Owner, mode and time as the archive says. The creating functions have set those of the caller, which is root. */
static void set_attributes(const struct cpio *c, struct inode *inode)
{
	inode->i_uid = c->field[C_UID];
	inode->i_gid = c->field[C_GID];
	inode->i_mode = c->field[C_MODE] & 0xffff;
	inode->i_atime = inode->i_mtime = c->field[C_MTIME] * (u64)NSEC_PER_SEC;
}

/* The target has no terminating zero in the archive, and the file system wants one, so it is copied. */
static int make_symlink(struct cpio *c, struct inode *dir, struct dentry *d)
{
	char *target = kstrndup(c->data, c->field[C_SIZE], GFP_KERNEL);
	int err;

	if (!target)
		return -ENOMEM;
	err = *target ? dir->i_op->symlink(dir, d, target) : -EINVAL;
	kfree(target);
	return err;
}

/*
 * [i_lock] Make the object itself, still empty. A directory that exists already stays, with what is in it, and only
 * gets the attributes, because archives are laid over each other. 0 or -errno.
 */
static int make_node(struct cpio *c, struct new_name *n)
{
	struct inode *dir = n->parent.dentry->d_inode;
	mode_t mode = c->field[C_MODE] & 0xffff;
	int err;

	if (S_ISDIR(mode) && n->dentry->d_inode && S_ISDIR(n->dentry->d_inode->i_mode)) {
		set_attributes(c, n->dentry->d_inode);
		return 0;
	}
	err = initramfs_clear_way(n);
	if (err)
		return err;
	if (!dir->i_op->mknod || !dir->i_op->mkdir || !dir->i_op->symlink)
		return -EPERM;
	if (S_ISDIR(mode))
		err = dir->i_op->mkdir(dir, n->dentry, mode);
	else if (S_ISLNK(mode))
		err = make_symlink(c, dir, n->dentry);
	else if (S_ISREG(mode) || S_ISCHR(mode) || S_ISBLK(mode) || S_ISFIFO(mode))
		err = dir->i_op->mknod(dir, n->dentry, mode, MKDEV(c->field[C_RMAJ], c->field[C_RMIN]));
	else
		err = -EINVAL;
	if (!err)
		set_attributes(c, n->dentry->d_inode);
	return err;
}

/* A further name of a file that is unpacked already. 0 or -errno. */
static int make_link(const char *old, const char *new)
{
	struct new_name n;
	struct path path;
	int err = kern_path_at(AT_FDCWD, old, 0, &path);

	if (err)
		return err;
	err = new_name_begin(&n, new);
	if (!err) {
		struct inode *dir = n.parent.dentry->d_inode;

		err = initramfs_clear_way(&n);
		if (!err)
			err = dir->i_op->link ? dir->i_op->link(path.dentry, dir, n.dentry) : -EPERM;
		new_name_end(&n);
	}
	path_put(&path);
	return err;
}

/*
 * Fill a file that was made just before. O_NOFOLLOW, because the name in an archive could be a link that an earlier
 * entry has made, and the contents would go elsewhere. 0 or -errno.
 */
static int write_contents(const char *name, const char *data, size_t size)
{
	struct file *f = filp_open(name, O_WRONLY | O_TRUNC | O_NOFOLLOW, 0);
	loff_t pos = 0;
	ssize_t res;

	if (IS_ERR(f))
		return PTR_ERR(f);
	res = kernel_write(f, data, size, &pos);
	fput(f);
	return res < 0 ? res : res == size ? 0 : -ENOSPC;
}

/*
 * Make one entry: a directory, node or link with its attributes, or a further name of a file that exists. Of a file
 * with several names any entry may carry the contents. Writing moves the file's times, so the attributes are set again
 * behind it.
 */
static int unpack_entry(struct cpio *c)
{
	bool regular = S_ISREG(c->field[C_MODE]);
	const char *first = find_link(c);
	struct new_name n;
	int err;

	if (first) {
		err = make_link(first, c->name);
	} else {
		err = new_name_begin(&n, c->name);
		if (err == -EEXIST) /* "." and "/" exist already */
			return 0;
		if (!err) {
			err = make_node(c, &n);
			new_name_end(&n);
		}
	}
	if (!err && regular && c->field[C_SIZE])
		err = write_contents(c->name, c->data, c->field[C_SIZE]);
	if (!err && regular && c->field[C_SIZE]) {
		struct path path;

		if (!kern_path_at(AT_FDCWD, c->name, 0, &path)) {
			set_attributes(c, path.dentry->d_inode);
			path_put(&path);
		}
	}
	return err;
}

/*
 * One archive from c->at on. True: its trailer was reached. False: it is damaged, and nothing behind the damage can be
 * trusted. c->at moves behind an entry before the entry is made, so an error in one does not stop the others.
 */
static bool unpack_archive(struct cpio *c)
{
	for (;;) {
		const char *wrong = parse_header(c);
		int err;

		if (wrong) {
			pr_err("initramfs: damaged at byte %lu: %s; %u files are unpacked\n",
			       (unsigned long)(c->at - c->start), wrong, c->files);
			return false;
		}
		c->at = cpio_align(c, c->data + c->field[C_SIZE]);
		if (c->at > c->end)
			c->at = c->end;
		if (!strcmp(c->name, "TRAILER!!!"))
			return true;
		err = unpack_entry(c);
		if (err) {
			pr_err("initramfs: %s: error %d\n", c->name, err);
			c->errors++;
		} else {
			c->files++;
		}
		cond_resched();
	}
}

/* Archives are padded with zeros, as cpio writes whole blocks. */
static void skip_padding(struct cpio *c)
{
	while (c->at < c->end && !*c->at)
		c->at++;
}

/*
 * All archives. Zeros may lie between them. A compressed one is recognised by its first byte (gzip or xz) and refused
 * with a message.
 */
static void initramfs_unpack(struct cpio *c)
{
	for (skip_padding(c); c->at < c->end; skip_padding(c)) {
		if (*c->at == '\037' || *c->at == (char)0xfd) {
			pr_err("initramfs: it is compressed: only plain cpio archives can be read\n");
			return;
		}
		c->start = c->at; /* alignment counts from the archive's own beginning */
		if (!unpack_archive(c))
			return;
		free_links(c); /* inode numbers mean something within one archive only */
	}
}

/*
 * Unpack the initrd up to what is no archive at its end (kernel/bootconfig), and then give its memory to the allocator:
 * whole pages only, since the ends may be shared with other data.
 */
static int populate_rootfs(void)
{
	phys_addr_t start = boot_info.initrd.base, end = start + boot_info.initrd.size;
	struct cpio c = {.at = __va(start), .start = __va(start), .end = __va(end) - initrd_tail_bytes};

	if (start >= end) {
		pr_err("initramfs: the boot loader gave none: there are no files, and no first program\n");
		return -ENOENT;
	}
	initramfs_unpack(&c);
	free_links(&c);
	pr_info("initramfs: %u files unpacked from %lu KiB%s\n", c.files, (unsigned long)(end - start) >> 10,
		c.errors ? ", with errors" : "");
	free_reserved_area(ALIGN(start, PAGE_SIZE), ALIGN_DOWN(end, PAGE_SIZE));
	return 0;
}
fs_initcall(populate_rootfs);
