/*
 * Files whose content the kernel makes: nearly all of /proc but for the files of processes, and sysfs, debugfs, the
 * control files of tracefs and the files of its events. One struct a file says how its text is made and how one is
 * taken; the operations are the same for all (kernel/fs/made/text_file.c).
 *
 *	static int answer_show(struct seq_file *m, void *data)
 *	{
 *		seq_printf(m, "%d\n", 42);
 *		return 0;
 *	}
 *	static const struct text_file answer_entry = {.path = "answer", .mode = 0444, .show = answer_show};
 *	REGISTER_PROC(answer_entry);
 */
#pragma once

#include <lib/types.h>

struct dentry;
struct file;
struct file_operations;
struct inode;
struct mutex;
struct seq_file;
struct text_file;

/* What files of one kind have in common. Immutable. */
struct text_kind {
	size_t max;			    /* bytes of a text that `store` gets, with the zero at its end */
	struct mutex *lock;		    /* held around show and store; NULL: none */
	int (*check)(const struct file *f); /* with the lock, before these: 0, or -errno that they get; NULL: none */
	/* With the lock, behind check: the file was opened to be written with O_TRUNC. NULL: that means nothing */
	void (*truncated)(const struct text_file *t, void *data);
	bool owns_data; /* i_private is kmalloc'ed, and freed with the inode */
	/* An inode of the file ends; the file leaves a tree that is the only one. Thread context. NULL: nothing */
	void (*evict)(struct inode *inode);
	void (*gone)(struct inode *inode);
	/*
	 * Tells why a write gets the error `err`. `why`: the reason, in words, from the code that has refused; NULL:
	 * that code gave no reason. `text` is empty where it cannot be shown. Thread context, no lock. Returns err.
	 */
	ssize_t (*refused)(const struct file *f, const char *text, const char *why, ssize_t err);
};

struct text_file {
	const char *path; /* "meminfo", "sys/kernel/ftrace_enabled": directories appear by themselves */
	mode_t mode;	  /* permissions; with S_IFDIR an empty directory, which others mount on */
	int (*show)(struct seq_file *m, void *data); /* its whole text. Thread context, no lock. 0 or -errno */
	/*
	 * Takes a terminated text, without white space at its ends, which it may change. The same context. Below sys/
	 * it is called for root alone, even if another user opened the file. 0 or -errno. NULL: a write is -EINVAL.
	 */
	int (*store)(char *text, void *data);
	/* The same in place of `store`; it may set *why, NULL before, to the reason of an error. The text stays. */
	int (*store_why)(char *text, void *data, const char **why);
	/* `store` gets the text as it was written: for numbers, which kstrtoul() takes with one newline behind them */
	bool exact;
	void *data;			   /* for these two, where the directory has no owner of its own */
	const struct file_operations *fop; /* instead of these two: its own operations */
	const struct text_kind *kind;	   /* NULL: texts of 255 bytes, no lock, errors explain themselves */
	const void *hint;		   /* for kind->refused: what `store` takes */
};

/*
 * Make the file below `root`, with the directories that lead to it, which get the mode `dir_mode`. 0, -errno. Thread
 * context.
 */
int text_file_create(struct dentry *root, const struct text_file *t, mode_t dir_mode);
/* The same in the directory `dir` ("a/b/"), with data of its own: for a file that many directories have. */
int text_file_create_in(struct dentry *root, const char *dir, const struct text_file *t, void *data, mode_t dir_mode);
/*
 * Make the file in a directory; `path` is its name there. show and store get `data`, which is also the inode's
 * i_private. The dentry, or ERR_PTR. Thread context.
 */
struct dentry *text_file_attach(struct dentry *dir, const struct text_file *t, void *data);
/* The same with another name and other permissions. Takes over data that the file owns, also on error. */
struct dentry *text_file_attach_as(struct dentry *dir, const char *name, mode_t mode, const struct text_file *t,
				   void *data);
/* The operations of its inode, whose i_text is this struct. Any context. */
const struct file_operations *text_file_operations(const struct text_file *t);
/* The write of all such files, also for a file that has its own way of reading. */
ssize_t text_file_write(struct file *f, const char __user *buf, size_t n, loff_t *pos);

/*
 * Gives the file a text that it may cut into pieces, as a write does: with the kind's lock and, unless the file is
 * exact, without white space at its ends. *why: the reason of an error, or NULL. 0 or -errno. Thread context.
 */
int text_file_store(const struct text_file *t, char *text, void *data, const char **why);

/* For store: one number with nothing behind it. 0, -EINVAL. */
int sysctl_number(const char *text, unsigned *v);
/* A limit on what a user may have: `data` is an unsigned. One below what a user has takes none away. */
int sysctl_limit_show(struct seq_file *m, void *data);
int sysctl_limit_store(char *text, void *data);

#define REGISTER_PROC(e)    REGISTER_IN(proc, e)
#define REGISTER_SYSFS(e)   REGISTER_IN(sysfs, e)
#define REGISTER_DEBUGFS(e) REGISTER_IN(debugfs, e)
