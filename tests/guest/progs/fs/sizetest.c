/*
 * sizetest: what a tmpfs says of its pages and inodes (statfs) is exact after everything that makes or drops
 * them. It runs in the root of an empty one of 64 pages and 20 inodes: mount -o size=256k,nr_inodes=20.
 */
#include <check.h>
#include <fcntl.h>
#include <numbers.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE	  4096L
#define PAGES	  64
#define INODES	  20
#define LONG_LINK 200

struct usage {
	long pages, inodes;
};

/* What is in use now; the totals must be what the mount said. */
static struct usage used(void)
{
	unsigned long s[15]; /* struct statfs, all of its fields of eight bytes */

	CHECK_CALL(check_syscall(SYS_statfs, (long)".", (long)s, 0, 0, 0, 0));
	CHECK_EQ(s[1], PAGE);
	CHECK_EQ(s[2], PAGES);
	CHECK_EQ(s[3], s[4]);
	CHECK_EQ(s[5], INODES);
	return (struct usage){s[2] - s[3], s[5] - s[6]};
}

/* So many pages, and so many inodes beside the root directory. */
static void expect(const char *when, long pages, long inodes)
{
	struct usage u = used();

	if (u.pages == pages && u.inodes == inodes + 1)
		return;
	printf("%s: %ld pages and %ld inodes, not %ld and %ld\n", when, u.pages, u.inodes, pages, inodes + 1);
	check_failures++;
}

static int make(const char *name)
{
	return (int)CHECK_CALL(open(name, O_RDWR | O_CREAT, 0644));
}

static long blocks(int fd)
{
	struct stat st;

	CHECK_CALL(fstat(fd, &st));
	return st.st_blocks;
}

/* One byte at each page that is named. */
static void touch(int fd, long page)
{
	CHECK_EQ(lseek(fd, page * PAGE + 7, SEEK_SET), page * PAGE + 7);
	CHECK_EQ(write(fd, "x", 1), 1);
}

static void growing_and_cutting(void)
{
	int fd = make("a");

	expect("an empty file", 0, 1);
	touch(fd, 0);
	touch(fd, 0);
	expect("one page, written twice", 1, 1);
	touch(fd, 1000);
	touch(fd, 600000);
	expect("holes", 3, 1);
	CHECK_EQ(blocks(fd), 3 * 8);
	CHECK_EQ(ftruncate(fd, 1001 * PAGE), 0);
	expect("cut behind the second", 2, 1);
	CHECK_EQ(ftruncate(fd, 900000 * PAGE), 0);
	expect("grown by a hole", 2, 1);
	CHECK_EQ(ftruncate(fd, 8), 0);
	expect("cut inside the first", 1, 1);
	CHECK_EQ(ftruncate(fd, 0), 0);
	CHECK_EQ(blocks(fd), 0);
	expect("cut to nothing", 0, 1);
	close(fd);
	CHECK_EQ(unlink("a"), 0);
	expect("gone", 0, 0);
}

static void unlinked_and_renamed(void)
{
	int a = make("a"), b = make("b");

	touch(a, 0);
	touch(b, 0);
	touch(b, 1);
	CHECK_EQ(unlink("a"), 0);
	expect("unlinked while open", 3, 2);
	touch(a, 1);
	expect("and written to", 4, 2);
	close(a);
	expect("closed", 2, 1);
	a = make("a");
	touch(a, 0);
	CHECK_EQ(rename("a", "b"), 0);
	expect("renamed over an open file", 3, 2);
	close(b);
	expect("which was closed", 1, 1);
	close(a);
	close(CHECK_CALL(open("b", O_WRONLY | O_TRUNC)));
	expect("O_TRUNC", 0, 1);
	CHECK_EQ(unlink("b"), 0);
	expect("gone", 0, 0);
}

static void failed_writes(void)
{
	int fd = make("a");

	CHECK_ERRNO(write(fd, (void *)16, 3 * PAGE), EFAULT);
	expect("a write from nowhere", 0, 1);
	touch(fd, 0);
	CHECK_EQ(lseek(fd, 40 * PAGE, SEEK_SET), 40 * PAGE);
	CHECK_ERRNO(write(fd, (void *)16, 1), EFAULT);
	expect("another, behind the end", 1, 1);
	CHECK_EQ(unlink("a"), 0);
	close(fd);
	expect("gone", 0, 0);
}

static void mapped_holes(void)
{
	int fd = make("a");
	char *p;

	CHECK_EQ(ftruncate(fd, 40 * PAGE), 0);
	p = mmap(NULL, 40 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(p != MAP_FAILED);
	expect("mapped", 0, 1);
	p[39 * PAGE] = 1; /* and its neighbours, as they are mapped in groups */
	CHECK_EQ(used().pages * 8, blocks(fd));
	CHECK_RANGE(used().pages, 1, 16);
	CHECK_EQ(ftruncate(fd, 0), 0);
	expect("cut below a mapping", 0, 1);
	CHECK_EQ(munmap(p, 40 * PAGE), 0);
	CHECK_EQ(unlink("a"), 0);
	close(fd);
	expect("gone", 0, 0);
}

static void names(void)
{
	char text[LONG_LINK + 1] = "";

	CHECK_EQ(mkdir("d", 0755), 0);
	close(make("d/a"));
	CHECK_EQ(link("d/a", "b"), 0);
	CHECK_EQ(link("b", "c"), 0);
	expect("a directory and three names", 0, 4);
	CHECK_EQ(rename("c", "d/a"), 0); /* two names of one file: nothing happens */
	expect("renamed to itself", 0, 4);
	close(make("e"));
	CHECK_EQ(rename("e", "c"), 0);
	expect("over a second name", 0, 4);
	CHECK_EQ(symlink("short", "s"), 0);
	expect("a short link", 0, 5);
	memset(text, 'l', LONG_LINK);
	CHECK_EQ(symlink(text, "l"), 0);
	expect("a long link", 1, 6);
	CHECK(!unlink("l") && !unlink("s") && !unlink("c") && !unlink("b") && !unlink("d/a"));
	expect("a directory", 0, 1);
	CHECK_EQ(rmdir("d"), 0);
	expect("gone", 0, 0);
}

/* Exactly what was promised, and not one more; then all of it again. */
static void full(void)
{
	static char room[PAGE];
	char name[16];
	long n = 0;
	int fd = make("a");

	for (int round = 0; round < 2; round++) {
		CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
		for (n = 0; write(fd, room, PAGE) == PAGE; n++)
			;
		CHECK_EQ(errno, ENOSPC);
		CHECK_EQ(n, PAGES);
		expect("full", PAGES, 1);
		memset(room, 'l', LONG_LINK);
		room[LONG_LINK] = '\0';
		CHECK_ERRNO(symlink(room, "l"), ENOSPC);
		expect("no long link", PAGES, 1);
		CHECK_EQ(ftruncate(fd, 0), 0);
	}
	close(fd);
	for (n = 1;; n++) {
		sprintf(name, "n%ld", n);
		if (mknod(name, S_IFREG | 0644, 0))
			break;
	}
	CHECK_EQ(errno, ENOSPC);
	CHECK_EQ(n, INODES - 1);
	CHECK_ERRNO(mkdir("d", 0755), ENOSPC);
	CHECK_ERRNO(symlink("a", "d"), ENOSPC);
	CHECK_ERRNO(link("a", "d"), ENOSPC);
	CHECK_ERRNO(open("d", O_WRONLY | O_CREAT, 0644), ENOSPC);
	expect("no inode left", 0, INODES - 1);
	while (--n) {
		sprintf(name, "n%ld", n);
		CHECK_EQ(unlink(name), 0);
	}
	CHECK_EQ(unlink("a"), 0);
	expect("gone", 0, 0);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"grow-and-cut", growing_and_cutting},
		{"unlink-and-rename", unlinked_and_renamed},
		{"failed-writes", failed_writes},
		{"mapped-holes", mapped_holes},
		{"names", names},
		{"full", full},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
