/*
 * hidden: what is kept from uid 1000 although it got hold of something: of a process of its own that has ended, and
 * settings through descriptors that root has opened; and devices by their numbers, which only root makes.
 */
#include <dirent.h>
#include <rows/permrows.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define USER		1000
#define PR_SET_DUMPABLE 4

static int wanted;

static int open_errno(pid_t pid, const char *file)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int readlink_errno(pid_t pid, const char *file)
{
	char path[64], name[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return CALL(readlinkat, AT_FDCWD, path, name, sizeof(name)) < 0 ? errno : 0;
}

static pid_t zombie;

static void look_at_zombie(void)
{
	become_user(USER);
	CHECK_EQ(open_errno(zombie, "maps"), wanted);
	CHECK_EQ(readlink_errno(zombie, "cwd"), wanted ? wanted : ENOENT);
}

/* Of a process that has ended its user sees as much as before. */
static void zombies(void)
{
	for (int dumpable = 0; dumpable < 2; dumpable++) {
		zombie = check_fork();
		if (zombie == 0) {
			become_user(USER);
			CALL(prctl, PR_SET_DUMPABLE, dumpable);
			_exit(0);
		}
		CHECK_CALL(CALL(waitid, 1 /* P_PID */, zombie, 0, 4 | 0x1000000 /* WEXITED | WNOWAIT */, 0));
		wanted = dumpable ? 0 : EACCES;
		CHECK_EQ(check_in_child(look_at_zombie), 0);
		CHECK_EQ(check_wait(zombie), 0);
	}
}

static int settings_seen;

/* A descriptor that root has opened, and a user who writes to it what stands there anyway. */
static void write_setting_as_user(const char *path)
{
	char text[256], after[256];
	int fd = open(path, O_RDWR);
	ssize_t n = CHECK_CALL(read(fd, text, sizeof(text)));

	CALL(setresuid, -1, USER, -1);
	errno = 0;
	if (write(fd, text, n) != -1 || errno != EPERM) {
		printf("%s: a user wrote to it\n", path);
		check_failures++;
	}
	CALL(setresuid, -1, 0, -1);
	lseek(fd, 0, SEEK_SET);
	CHECK_EQ(read(fd, after, sizeof(after)), n);
	CHECK(!memcmp(text, after, n));
	close(fd);
	settings_seen++;
}

static void write_settings_below(const char *dir)
{
	DIR *names = opendir(dir);
	struct dirent *entry;
	struct stat st;
	char path[300];

	while ((entry = readdir(names))) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (entry->d_name[0] == '.')
			continue;
		CHECK_CALL(stat(path, &st));
		if (S_ISDIR(st.st_mode))
			write_settings_below(path);
		else if (st.st_mode & 0222)
			write_setting_as_user(path);
	}
	closedir(names);
}

static void settings(void)
{
	write_settings_below("/proc/sys");
	CHECK_RANGE(settings_seen, 15, 1000);
}

#define NODE_CHR 0020000

/* A device file made by a number is that device. */
static void use_nodes_in(const char *dir)
{
	char path[64], text[8] = "lost";
	int fd;

	snprintf(path, sizeof(path), "%s/node", dir);
	CHECK_CALL(CALL(mknodat, AT_FDCWD, path, NODE_CHR | 0666, 0x103)); /* null */
	fd = open(path, O_RDWR);
	CHECK_EQ(write(fd, text, 4), 4);
	CHECK_EQ(read(fd, text, 4), 0);
	close(fd);
	CHECK_CALL(unlink(path));
	CHECK_CALL(CALL(mknodat, AT_FDCWD, path, NODE_CHR | 0666, 0x105)); /* zero */
	fd = open(path, O_RDWR);
	CHECK_EQ(read(fd, text, 4), 4);
	CHECK(!memcmp(text, "\0\0\0\0", 4));
	close(fd);
	CHECK_CALL(unlink(path));
	CHECK_CALL(CALL(mknodat, AT_FDCWD, path, NODE_CHR | 0666, 0xf3fe));
	CHECK_ERRNO(open(path, O_RDWR), ENXIO);
	CHECK_CALL(unlink(path));
}

static void make_node_as_user(void)
{
	become_user(USER);
	CHECK_ERRNO(CALL(mknodat, AT_FDCWD, "/tmp/nodes/x", NODE_CHR | 0666, 0x103), EPERM);
	CHECK_ERRNO(CALL(mknodat, AT_FDCWD, "/dev/x", NODE_CHR | 0666, 0x103), EACCES); /* its directory is root's */
}

static void nodes(void)
{
	use_nodes_in("/dev");
	use_nodes_in("/tmp");
	CHECK_CALL(mkdir("/tmp/nodes", 0777));
	CHECK_CALL(CALL(fchmodat, AT_FDCWD, "/tmp/nodes", 0777));
	CHECK_EQ(check_in_child(make_node_as_user), 0);
}

int main(int argc, char **argv)
{
	static const struct check_case cases[] = {
		{"zombies", zombies},
		{"settings", settings},
		{"nodes", nodes},
	};

	return check_main(argc, argv, cases, ARRAY_SIZE(cases));
}
