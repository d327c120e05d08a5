/*
 * Directories whose entries are computed: large trees that are the picture of something else (the events of tracefs).
 * An inode exists only while it is in use.
 */
#pragma once

#include <fs/vfs.h>

struct virtual_dir;

/* One entry: a file has text and data (its inode->i_private), a directory has dir. */
struct virtual_entry {
	const char *name; /* lives as long as the directory */
	mode_t mode;	  /* permissions */
	const struct text_file *text;
	void *data;
	struct virtual_dir *dir;
};

/*
 * What such a directory shows: a member of the object that it is the picture of. It must stay in memory until no inode
 * of the directory is left, also after is_there() has become false.
 */
struct virtual_dir {
	/* The n-th entry; false: there are fewer. Thread context, the directory's i_lock held. */
	bool (*entry)(struct virtual_dir *dir, unsigned n, struct virtual_entry *entry);
	/* Is this directory still there under this name, in its parent? NULL: for ever. Neither locks nor sleeps. */
	bool (*is_there)(const struct virtual_dir *dir, const struct dentry *name);
};

/* Do all directories that the file was found in stand for the same as then? Under the lock by which they change. */
bool virtual_dir_is_there(const struct file *f);

/* Such a directory in a tree of libfs.h, as simple_create_dir: the dentry or an ERR_PTR. */
struct dentry *virtual_dir_create(struct dentry *parent, const char *name, mode_t mode, struct virtual_dir *dir);
