/*
 * Directories whose entries are computed: large trees that are the picture of something else (the events of tracefs).
 * An inode exists while somebody looks at it.
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

/* A part of what the directory pictures, which outlives it: its memory stays when the directory goes. */
struct virtual_dir {
	/* The n-th entry; false: there are fewer. Thread context, the directory's i_lock held. */
	bool (*entry)(struct virtual_dir *dir, unsigned n, struct virtual_entry *entry);
	/* Is this directory still there under this name? NULL: for ever. dcache_lock held; neither locks nor sleeps. */
	bool (*is_there)(const struct virtual_dir *dir, const char *name);
};

/* Such a directory in a tree of libfs.h, as simple_create_dir: the dentry or an ERR_PTR. */
struct dentry *virtual_dir_create(struct dentry *parent, const char *name, mode_t mode, struct virtual_dir *dir);
