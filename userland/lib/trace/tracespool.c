/*
 * Pages of trace_pipe_raw kept in files until the recording is over: trace.dat has each CPU's pages
 * in one piece, and says where before they come.
 *
 *     trace_pipe_raw --splice--> pipe --splice--> PREFIX.000000, PREFIX.000001, ...   --at the end--> trace.dat
 *
 * Each file has VT_SEGMENT bytes at most and is removed when it has been copied, so that while they
 * are joined no more than one of them is there twice. Pages go through a pipe because splice(2)
 * wants one; so they are never copied through this program's memory, but for the last one.
 * Functions return -1 with errno for an error.
 *
 * Order of a page's way, and what is safe when a step fails: room in the segment is made before the
 * page leaves the kernel's buffer. A full disk therefore loses nothing that was recorded; the pages
 * stay in the kernel until the caller gives up.
 */
#include <vt_trace.h>

/*
 * Pages of a segment: a multiple of a sub-buffer, as both are powers of two. Where the oldest pages are dropped it is
 * half of those that are kept at most, so that a whole segment can go.
 */
static unsigned long segment_pages(const struct vt_spool *s)
{
	unsigned long pages = VT_SEGMENT / VT_TRACE_PAGE;

	if (s->max && s->max / 2 < pages)
		pages = s->max / 2 / s->unit * s->unit;
	return s->unit > pages ? s->unit : pages;
}

/* The name of a segment's file. The caller frees it. */
static char *segment_name(const struct vt_spool *s, unsigned long number)
{
	size_t n = strlen(s->prefix) + 24;
	char *name = vt_malloc(n);

	snprintf(name, n, "%s.%06lu", s->prefix, number);
	return name;
}

/*
 * Begin to collect one CPU's pages, which go through a pipe by splice(2). 0, or -1 and errno; nothing is left open
 * then.
 */
int vt_spool_open(struct vt_spool *s, const char *prefix, const char *instance, int cpu)
{
	char file[64], *path;

	snprintf(file, sizeof(file), "per_cpu/cpu%d/trace_pipe_raw", cpu);
	*s = (struct vt_spool){
		.fd = -1, .prefix = vt_strdup(prefix), .unit = vt_tracefs_subbuf(instance) / VT_TRACE_PAGE};
	path = vt_tracefs_path(instance, file);
	s->raw = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	free(path);
	if (s->raw < 0)
		return -1;
	if (pipe2(s->pipe, O_CLOEXEC) < 0) {
		int err = errno;

		/* vt_spool_stop() closes the pipe of a spool that is open: without one the spool must be closed. */
		close(s->raw);
		s->raw = -1;
		errno = err;
		return -1;
	}
	return 0;
}

/*
 * Begin the next segment. All its room is written with zeros first, so a disk that is full is
 * noticed here, where nothing is lost, and not when a page has been taken out of the kernel.
 */
static int next_segment(struct vt_spool *s)
{
	static const char zeros[VT_TRACE_PAGE];
	char *name = segment_name(s, s->segments);
	int err = 0;

	if (s->fd >= 0)
		close(s->fd);
	s->fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (s->fd < 0)
		err = errno;
	for (unsigned long i = 0; i < segment_pages(s) && !err; i++)
		if (vt_write_all(s->fd, zeros, sizeof(zeros)) < 0)
			err = errno;
	if (err) {
		if (s->fd >= 0)
			close(s->fd);
		s->fd = -1;
		unlink(name);
	} else {
		lseek(s->fd, 0, SEEK_SET);
		s->segments++;
	}
	free(name);
	errno = err;
	return err ? -1 : 0;
}

/* Remove the file of the oldest segment. */
static void drop_segment(struct vt_spool *s)
{
	char *name = segment_name(s, s->first++);

	unlink(name);
	free(name);
}

/* How many pages the segments that are there have room for. */
static unsigned long all_pages(const struct vt_spool *s)
{
	return (s->segments - s->first) * segment_pages(s);
}

/*
 * How many more pages fit into the current segment; a full one is followed by the next, so there is
 * room for at least one. For that the oldest goes when only `max` pages are wanted. Returns -1 with errno when no
 * further segment can be made.
 */
static int room(struct vt_spool *s)
{
	if (s->pages == all_pages(s)) {
		while (s->max && s->pages && s->pages + segment_pages(s) > s->max) {
			drop_segment(s);
			s->pages -= segment_pages(s);
		}
		if (next_segment(s) < 0)
			return -1;
	}
	return (int)(all_pages(s) - s->pages);
}

/* Move n bytes from the pipe into the segment. splice(2) may move fewer than it was asked for. */
static int drain_pipe(struct vt_spool *s, size_t n)
{
	while (n) {
		ssize_t got = splice(s->pipe[0], NULL, s->fd, NULL, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		n -= (size_t)got;
	}
	return 0;
}

/*
 * Take those pages that the writer has filled and left. Returns 1 if there were some, 0 if there are
 * no more now, -1 with errno. No more are taken than the segment holds, and than the pipe does: the
 * kernel sees to that. So a sub-buffer that is larger than the pipe takes several calls. What is in
 * the pipe must have a place to go. trace_pipe_raw does not block, so an empty buffer answers EAGAIN.
 */
static int take_whole(struct vt_spool *s)
{
	int free_pages = room(s);
	ssize_t n;

	if (free_pages < 0)
		return -1;
	n = splice(s->raw, NULL, s->pipe[1], NULL, (size_t)free_pages * VT_TRACE_PAGE, 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (drain_pipe(s, (size_t)n) < 0)
		return -1;
	s->pages += (unsigned long)n / VT_TRACE_PAGE;
	return n > 0;
}

/*
 * Take the sub-buffer that the writer is on, with what is in it. A read does that, splice(2) does not. The
 * rest of it is zeros, and its head says how much is used. Returns as take_whole().
 */
static int take_part(struct vt_spool *s)
{
	size_t size = s->unit * VT_TRACE_PAGE;
	char *page;
	ssize_t n;
	int ret;

	if (room(s) < 0)
		return -1;
	page = vt_malloc(size);
	n = vt_read(s->raw, page, size);
	ret = n < 0 ? errno == EAGAIN ? 0 : -1 : n > 0;
	if (ret > 0 && vt_write_all(s->fd, page, size) < 0)
		ret = -1;
	if (ret > 0)
		s->pages += s->unit;
	free(page);
	return ret;
}

/* Whole pages as long as there are some; with `rest`, at the end of a recording, the begun one too. */
int vt_spool_take(struct vt_spool *s, bool rest)
{
	int more;

	do {
		more = take_whole(s);
	} while (more > 0 || (more == 0 && s->pages % s->unit));
	while (more == 0 && rest && (more = take_part(s)) > 0)
		more = 0;
	return more;
}

/* The last segment is cut to what is in it. */
void vt_spool_stop(struct vt_spool *s)
{
	if (s->fd >= 0) {
		ftruncate(s->fd, (off_t)(s->pages - (all_pages(s) - segment_pages(s))) * VT_TRACE_PAGE);
		close(s->fd);
	}
	if (s->raw >= 0) {
		close(s->raw);
		close(s->pipe[0]);
		close(s->pipe[1]);
	}
	s->fd = s->raw = -1;
}

/*
 * One segment's pages; a half-written copy is taken back, so that what there is can be joined by cat.
 * The pages are read and written here: fd may be a pipe or a port, and splice(2) does not join these with every file.
 * keep: the segment stays, and fd, which may not be seekable, is not cut back.
 */
static int give_segment(const char *name, unsigned long pages, int fd, bool keep)
{
	static char page[VT_TRACE_PAGE];
	off_t start = keep ? 0 : lseek(fd, 0, SEEK_CUR);
	int from = open(name, O_RDONLY | O_CLOEXEC), err;
	bool bad = from < 0;

	for (; pages && !bad; pages--)
		bad = vt_read(from, page, sizeof(page)) != sizeof(page) || vt_write_all(fd, page, sizeof(page)) < 0;
	err = errno;
	if (from >= 0)
		close(from);
	if (!bad && !keep)
		unlink(name);
	else if (bad && !keep)
		ftruncate(fd, start);
	errno = err;
	return bad ? -1 : 0;
}

/* Segments are removed one by one as they are copied, so the disk holds at most one of them twice. */
int vt_spool_give(struct vt_spool *s, int fd, bool keep)
{
	for (unsigned long left = s->pages, i = s->first; left; i++) {
		unsigned long pages = left < segment_pages(s) ? left : segment_pages(s);
		char *name = segment_name(s, i);
		int ret = give_segment(name, pages, fd, keep);

		free(name);
		if (ret < 0)
			return -1;
		left -= pages;
	}
	return 0;
}

void vt_spool_close(struct vt_spool *s)
{
	if (!s->prefix)
		return;
	vt_spool_stop(s);
	while (s->first < s->segments)
		drop_segment(s);
	free(s->prefix);
	*s = (struct vt_spool){.fd = -1, .raw = -1};
}
