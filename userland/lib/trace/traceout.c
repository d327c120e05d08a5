/*
 * Where a trace.dat goes. What was there before stays until the new file is whole.
 *
 *     regular file:   FILE.PID is reserved with zeros, overwritten, cut to its length, renamed to FILE
 *     port or pipe:   /tmp/trace-record.PID holds the whole, and is copied when it is complete
 *
 * rename() replaces the old file in one step, so whoever opens the name sees the old file or the whole
 * new one, and a failure half-way leaves the old one. Room is taken before the recording begins: a
 * disk that is full is then noticed while nothing is lost.
 */
#include <vt_trace.h>
#include <sys/stat.h>

/*
 * The name that a file is open under: of a link, the one at its end. To rename over a link would
 * replace the link; the file that it leads to is meant. /proc/self/fd has the kernel's own answer,
 * which is right also for a link to a link.
 */
static char *name_of(int fd, const char *path)
{
	static char name[4096];
	char link[40];
	struct stat st;
	ssize_t n;

	if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
		return vt_strdup(path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, name, sizeof(name) - 1);
	if (n <= 0)
		vt_die_errno(1, path);
	name[n] = '\0';
	return vt_strdup(name);
}

/*
 * The file is opened for writing only to learn whether that is allowed, and of which kind it is; it is
 * not truncated. A pipe stays open, since opening it may have waited for its reader. Where a link leads to
 * that is not there, a file is made for a moment, which tells its name.
 */
void vt_out_open(struct vt_out *o, const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool dangling = fd < 0 && errno == ENOENT && readlink(path, (char[1]){0}, 1) == 1;
	struct stat st;
	const char *base;

	*o = (struct vt_out){.path = path, .fd = -1, .part_fd = -1, .regular = true};
	if (dangling)
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0 ? dangling || errno != ENOENT : fstat(fd, &st) < 0)
		vt_die_errno(1, path);
	o->dest = fd < 0 ? vt_strdup(path) : name_of(fd, path);
	if (dangling)
		unlink(o->dest);
	if (fd >= 0 && !dangling) {
		o->exists = true;
		o->regular = S_ISREG(st.st_mode);
		o->mode = st.st_mode & 07777;
	}
	if (o->regular && fd >= 0)
		close(fd);
	else
		o->fd = fd;
	base = o->regular ? o->dest : "/tmp/trace-record";
	o->part = vt_malloc(strlen(base) + 24);
	sprintf(o->part, "%s.%d", base, (int)getpid());
}

/* Zeros are written, as a file with a hole (ftruncate) would take no room on the disk. */
int vt_out_more(struct vt_out *o, size_t n)
{
	static const char zeros[VT_TRACE_PAGE];
	int ret = 0;

	lseek(o->part_fd, 0, SEEK_END);
	for (size_t done = 0; done < n && ret == 0; done += sizeof(zeros))
		ret = vt_write_all(o->part_fd, zeros, sizeof(zeros));
	lseek(o->part_fd, 0, SEEK_SET);
	return ret;
}

/*
 * Room for n bytes of output, before anything is recorded: a full disk is told now, while nothing has been lost. Does
 * not return when there is none.
 */
void vt_out_reserve(struct vt_out *o, size_t n)
{
	const char *where = o->regular ? o->path : o->part;
	int err;

	o->part_fd = open(o->part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	/* Tutorials stand in the directory of tracefs when they record. */
	if (o->part_fd < 0 && errno == ENOENT && !strchr(where, '/'))
		vt_die(1, "%s: this directory takes no new files: choose another place, as in -o /tmp/%s", where,
		       where);
	if (o->part_fd < 0)
		vt_die_errno(1, where);
	if (vt_out_more(o, n) < 0) {
		err = errno;
		vt_out_drop(o);
		vt_die(1, "%s: %s: nothing was recorded, the buffers are as they were", where, strerror(err));
	}
}

/*
 * The reserve beyond the written end is cut off. close() is checked, as some file systems report a
 * write error only there.
 */
int vt_out_rename(struct vt_out *o, const char *to)
{
	ftruncate(o->part_fd, lseek(o->part_fd, 0, SEEK_CUR));
	if (o->regular && o->exists)
		chmod(o->part, o->mode);
	if (close(o->part_fd) < 0 || rename(o->part, to) < 0)
		return -1;
	o->part_fd = -1;
	return 0;
}

void vt_out_drop(struct vt_out *o)
{
	if (o->part_fd < 0)
		return;
	unlink(o->part);
	close(o->part_fd);
	o->part_fd = -1;
}

const char *vt_out_port(const char *name)
{
	static const char ports[] = "/dev/virtio-ports/";
	char *path = vt_malloc(sizeof(ports) + strlen(name));

	sprintf(path, "%s%s", ports, name);
	if (access(path, W_OK) < 0)
		vt_die(1, "no port '%s': vrun --port %s=FILE gives the machine one", name, name);
	return path;
}
