/*
 * opendir() and readdir() over getdents64.
 *
 * The kernel's records are handed out as they lie in the buffer: struct dirent is laid out like
 * them, and its d_name is only as long as the name really is.
 *
 *     buf:  | inode | next | reclen | type | "name\0" | inode | next | reclen | ...
 *           ^ at                                      ^ at + reclen
 */
#include <vt.h>
#include <dirent.h>
#include <bits/syscall.h>
#include <sys/syscall.h>

struct vt_dir {
	int fd;		/* of the directory; owned */
	size_t at, end; /* unread part of buf, bytes */
	char buf[2048] __attribute__((aligned(8)));
};

/* The structure comes from malloc(), not vt_malloc(): a POSIX function returns its error. */
DIR *opendir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir;

	if (fd < 0)
		return NULL;
	dir = malloc(sizeof(*dir));
	if (!dir) {
		close(fd);
		errno = ENOMEM;
		return NULL;
	}
	dir->fd = fd;
	dir->at = dir->end = 0;
	return dir;
}

/* NULL is the end and an error alike; a caller that must tell them apart clears errno before. */
struct dirent *readdir(DIR *dir)
{
	struct dirent *entry;

	if (dir->at >= dir->end) {
		long n = vt_syscall(SYS_getdents64, dir->fd, (long)dir->buf, sizeof(dir->buf), 0, 0, 0);

		if (n < 0)
			errno = (int)-n;
		if (n <= 0)
			return NULL;
		dir->at = 0;
		dir->end = (size_t)n;
	}
	entry = (struct dirent *)(dir->buf + dir->at);
	dir->at += entry->d_reclen;
	return entry;
}

int closedir(DIR *dir)
{
	int fd = dir->fd;

	free(dir);
	return close(fd);
}
