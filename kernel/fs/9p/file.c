/*
 * Open files and directories of 9p. Every read and write goes to the server, in messages of up to msize; there is no
 * page cache. A page of a mapping is read when it is touched, and belongs to that mapping alone. So a private mapping
 * (and a program that runs) works, and a shared one that could be written does not exist: -EINVAL, as on Linux without
 * a cache.
 *
 * Reads and writes take no lock, so as many are under way as there are tasks that wait.
 */
#include "v9fs.h"

#include <asm/uaccess.h>
#include <fs/libfs.h>
#include <lib/string.h>
#include <mm/mm.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/signal.h>
#include <uapi/fcntl.h>
#include <uapi/uio.h>

/* O_* of TLOPEN are Linux's on x86, whatever the machine. */
#define P9_O_APPEND    02000u
#define P9_O_DIRECTORY 0200000u

#define READDIR_BYTES 16384 /* that are asked for at a time */

/* An open file. Locks: I immutable once open; a atomic. */
struct v9fs_file {
	u32 fid;    /* [I] open, without O_APPEND */
	u32 append; /* [a] open with O_APPEND; 0: no write has needed it */
};

static u32 fid_of(const struct file *f)
{
	return ((struct v9fs_file *)f->private_data)->fid;
}

/* The fid that the creation of the file has left for this open by the same task, or 0. */
static u32 take_created(struct inode *inode)
{
	struct v9fs_inode *v = v9fs_i(inode);

	if (!smp_load_acquire(&v->created) || v->created_by != current)
		return 0;
	return xchg(&v->created, 0);
}

/*
 * Make a second fid of the file and open it. The server opens the file that has the name now; when that is another file
 * already, nothing may be written to it in place of ours. 0, -ESTALE, or another -errno.
 */
static int open_by_name(struct inode *inode, u32 flags, u32 *fid)
{
	struct v9fs_inode *v = v9fs_i(inode);
	struct p9_qid qid;
	int err = p9_client_walk(v->client, v->fid, NULL, fid, NULL);

	if (err)
		return err;
	err = p9_client_call(v->client, P9_TLOPEN, "dd|Q", *fid, flags, &qid);
	if (!err && !p9_same_file(&qid, &v->qid))
		err = -ESTALE;
	if (err)
		p9_client_clunk(v->client, *fid);
	return err;
}

/*
 * Each open file has a fid of its own, because the server keeps the open mode with the fid. Creating a file opens it,
 * too; that fid is taken over, since the file's mode may not allow a second open.
 */
static int v9fs_file_open(struct inode *inode, struct file *f)
{
	struct v9fs_file *file = kzalloc(sizeof(*file), GFP_KERNEL);
	int err = 0;

	if (!file)
		return -ENOMEM;
	file->fid = take_created(inode);
	if (!file->fid)
		err = open_by_name(inode, (f->f_flags & O_ACCMODE) | (S_ISDIR(inode->i_mode) ? P9_O_DIRECTORY : 0),
				   &file->fid);
	if (err)
		kfree(file);
	else
		f->private_data = file;
	return err;
}

static int v9fs_file_release(struct inode *inode, struct file *f)
{
	struct v9fs_file *file = f->private_data;

	p9_client_clunk(v9fs_i(inode)->client, file->fid);
	if (file->append)
		p9_client_clunk(v9fs_i(inode)->client, file->append);
	kfree(file);
	return 0;
}

/*
 * The fid for a write. Appending is the server's work, so that writers of several guests do not overwrite each other;
 * it has a fid of its own, as fcntl(2) may switch O_APPEND at any time. If two first writes come at once, one of them
 * keeps its fid. If the file cannot be opened by name any more, the plain fid is used, and only the position says where
 * the data goes.
 */
static u32 fid_to_write(struct file *f)
{
	struct v9fs_file *file = f->private_data;
	u32 fid;

	if (!(READ_ONCE(f->f_flags) & O_APPEND))
		return file->fid;
	if (!READ_ONCE(file->append) && !open_by_name(f->f_inode, (f->f_flags & O_ACCMODE) | P9_O_APPEND, &fid) &&
	    cmpxchg(&file->append, 0, fid))
		p9_client_clunk(v9fs_i(f->f_inode)->client, fid);
	return READ_ONCE(file->append) ?: file->fid;
}

/* Copy to user or kernel memory. Returns the bytes that are NOT copied. */
static size_t copy_out(void *to, const void *from, size_t n, bool kernel)
{
	if (!kernel)
		return copy_to_user(to, from, n);
	memcpy(to, from, n);
	return 0;
}

/*
 * What a read has brought, for kfree(). The request gives its tag back: what comes next touches the user's memory. That
 * may be a file of this mount, whose pages take tags, too.
 */
static void *take_data(struct p9_req *req)
{
	void *data = req->data;

	req->data = NULL;
	p9_req_put(req);
	return data;
}

/*
 * Message by message, until n bytes are there, the file ends, or a signal ends the process. A short answer is the end:
 * the server gives less than asked for only there. What is read; *err: why there is no more, 0 at the end of the file.
 */
static size_t read_messages(struct file *f, char *buf, size_t n, loff_t *pos, bool kernel, int *err)
{
	struct p9_client *c = v9fs_i(f->f_inode)->client;
	size_t done = 0;

	*err = 0;
	while (done < n) {
		struct p9_req *req;
		ssize_t got = fatal_signal_pending(current)
				      ? -ERESTARTSYS
				      : p9_client_read(c, P9_TREAD, fid_of(f), *pos, n - done, &req);
		size_t asked, left;
		void *data;

		if (got <= 0) {
			*err = got;
			break;
		}
		asked = req->data_len;
		data = take_data(req);
		left = copy_out(buf + done, data, got, kernel);
		kfree(data);
		done += got - left;
		*pos += got - left;
		if (left)
			*err = -EFAULT;
		if (left || got < asked)
			break;
	}
	return done;
}

static ssize_t read_any(struct file *f, char *buf, size_t n, loff_t *pos, bool kernel)
{
	int err;
	size_t done = read_messages(f, buf, n, pos, kernel, &err);

	return done ? (ssize_t)done : err;
}

static ssize_t v9fs_file_read(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return read_any(f, buf, n, pos, false);
}

static ssize_t v9fs_file_read_kernel(struct file *f, void *buf, size_t n, loff_t *pos)
{
	return read_any(f, buf, n, pos, true);
}

/* The size that we know of is at least what we have written. Another task may store a larger one meanwhile. */
static void size_reaches(struct inode *inode, loff_t pos)
{
	loff_t size = READ_ONCE(inode->i_size);

	while (size < pos &&
	       !__atomic_compare_exchange_n(&inode->i_size, &size, pos, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

/* With O_APPEND the position is the end as the server knows it now; the server appends wherever the end is by then. */
static ssize_t v9fs_write_any(struct file *f, const char *buf, size_t n, loff_t *pos, bool kernel)
{
	struct inode *inode = f->f_inode;
	struct p9_client *c = v9fs_i(inode)->client;
	u32 fid = fid_to_write(f);
	size_t done = 0;
	ssize_t res = 0;

	if (f->f_flags & O_APPEND) {
		res = v9fs_refresh_inode(inode);
		if (res && res != -ENOENT)
			return res;
		*pos = i_size_read(inode);
	}
	res = generic_write_checks(*pos, &n);
	while (!res && done < n) {
		ssize_t put = fatal_signal_pending(current)
				      ? -ERESTARTSYS
				      : p9_client_write(c, fid, *pos, buf + done, n - done, kernel);

		if (put <= 0) {
			res = put ? put : -EIO;
			break;
		}
		done += put;
		*pos += put;
		size_reaches(inode, *pos);
	}
	return done ? (ssize_t)done : res;
}

static ssize_t v9fs_file_write(struct file *f, const char __user *buf, size_t n, loff_t *pos)
{
	return v9fs_write_any(f, buf, n, pos, false);
}

static ssize_t v9fs_file_write_kernel(struct file *f, const void *buf, size_t n, loff_t *pos)
{
	return v9fs_write_any(f, buf, n, pos, true);
}

/* Positions from the end need the size of now. A file that was removed has the size that was known last. */
static loff_t v9fs_file_llseek(struct file *f, loff_t off, int whence)
{
	int err = whence >= SEEK_END ? v9fs_refresh_inode(f->f_inode) : 0;

	return err && err != -ENOENT ? err : default_llseek(f, off, whence);
}

static int v9fs_file_fsync(struct file *f, bool datasync)
{
	return p9_client_call(v9fs_i(f->f_inode)->client, P9_TFSYNC, "dd", fid_of(f), (u32)datasync);
}

/* Nothing writes a changed page back, so a shared mapping must not ever become writable. */
static int v9fs_file_mmap(struct file *f, struct vm_area_struct *vma)
{
	return (vma->vm_flags & (VM_SHARED | VM_MAYWRITE)) == (VM_SHARED | VM_MAYWRITE) ? -EINVAL : 0;
}

/*
 * A fresh page with what the file has there now, and zeros behind its end. When only a part of it can be read, the page
 * cannot be had. The caller's is the only reference.
 */
static struct page *v9fs_file_get_page(struct file *f, unsigned long pgoff)
{
	struct page *page = alloc_page(GFP_USER);
	loff_t pos = (loff_t)pgoff << PAGE_SHIFT;
	size_t got;
	int err;

	if (!page)
		return ERR_PTR(-ENOMEM);
	got = read_messages(f, page_to_virt(page), PAGE_SIZE, &pos, true, &err);
	if (err || !got) {
		put_page(page);
		return ERR_PTR(err ? err : -EIO);
	}
	memset((char *)page_to_virt(page) + got, 0, PAGE_SIZE - got);
	return page;
}

const struct file_operations v9fs_file_fops = {
	.open = v9fs_file_open,
	.release = v9fs_file_release,
	.read = v9fs_file_read,
	.read_kernel = v9fs_file_read_kernel,
	.write = v9fs_file_write,
	.write_kernel = v9fs_file_write_kernel,
	.llseek = v9fs_file_llseek,
	.fsync = v9fs_file_fsync,
	.mmap = v9fs_file_mmap,
	.get_page = v9fs_file_get_page,
};

/* Hand the entries of one reply on. 1: all of them; 0: the reader has no room; -EIO. */
static int emit_entries(struct dir_context *ctx, struct p9_msg *m)
{
	struct p9_dirent entry;
	int more;

	while ((more = p9_msg_get_dirent(m, &entry)) > 0) {
		if (!ctx->emit(ctx, entry.name.bytes, entry.name.len, ctx->pos, entry.qid.path, entry.type))
			return 0;
		ctx->pos = entry.next;
	}
	return more ? more : 1;
}

/*
 * [i_lock] Positions are the server's: each entry brings that of the next one. Entries for which the reader has no room
 * are asked for again the next time. "." and ".." come from the server, too.
 */
static int v9fs_dir_readdir(struct file *f, struct dir_context *ctx)
{
	struct p9_client *c = v9fs_i(f->f_inode)->client;
	int more = 1;

	while (more > 0) {
		struct p9_req *req;
		ssize_t got = p9_client_read(c, P9_TREADDIR, fid_of(f), ctx->pos, READDIR_BYTES, &req);
		struct p9_msg entries;

		if (got <= 0)
			return got;
		entries = (struct p9_msg){.buf = take_data(req), .size = got};
		more = emit_entries(ctx, &entries);
		kfree(entries.buf);
	}
	return more;
}

const struct file_operations v9fs_dir_fops = {
	.open = v9fs_file_open,
	.release = v9fs_file_release,
	.iterate = v9fs_dir_readdir,
	.fsync = v9fs_file_fsync,
};
