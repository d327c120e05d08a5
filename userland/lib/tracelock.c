/*
 * One recording at a time: two would take each other's settings away and put back the other's.
 *
 * The lock is a symbolic link, whose text is the owner's pid: it is there with its text in one step, also when
 * no file has room.
 *
 * A lock left by a process that was killed must not keep out all later ones, so its owner is looked
 * for in /proc. A file with a pid in it would not do: between its creation and its first byte another
 * process would read an empty owner and take the lock for a dead one's.
 */
#include <vt_trace.h>
#include <sys/types.h>

#define LOCK "/run/trace.lock"

static bool ours;

/* The pid in a link, or 0. */
static long owner(const char *link)
{
	char text[24];
	ssize_t n = readlink(link, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return strtol(text, NULL, 10);
}

/*
 * Whether the process with this pid is one that records. Its name is compared as well, as pids are
 * used again: the dead owner's number may now belong to a shell. The kernel keeps 15 bytes of a name,
 * and both names are shorter. The caller itself does not count: a lock with its own pid was left by an
 * earlier process of that number.
 */
static bool alive(long pid)
{
	static const char *const names[] = {"trace-record", "trace-fn"};
	char path[48], *comm;
	bool same = false;

	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	comm = vt_read_file(path, NULL);
	if (!comm)
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		same |= pid != getpid() && !strcmp(comm, names[i]);
	free(comm);
	return same;
}

/*
 * Remove the lock of a dead process. Two processes may come here at the same time, and unlink() would
 * let the slower one remove the lock that the faster one has made since. rename() moves the lock aside
 * in one step, and then its text can be read in peace:
 *
 *     A: rename (the dead lock)   unlink    symlink (A's lock)
 *     B:                                                        rename (A's lock!)   text is not `dead`: rename back
 *
 * Before B's last step the lock is missing for a moment. A process that comes just then takes it, and
 * two processes record; this lock cannot exclude that.
 */
static void take_away(long dead)
{
	char aside[48];

	snprintf(aside, sizeof(aside), LOCK ".%d", (int)getpid());
	if (rename(LOCK, aside) < 0) {
		if (errno != ENOENT)
			vt_die_errno(1, LOCK);
	} else if (owner(aside) == dead) {
		unlink(aside);
	} else {
		rename(aside, LOCK);
	}
}

/*
 * Become the one who records, or end the program with this status, saying who does. The lock of a
 * process that has died is taken over.
 */
void vt_trace_lock(int status)
{
	char pid[24];
	long other;

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	/* symlink() fails if the name exists: of any number of processes one succeeds. */
	while (symlink(pid, LOCK) < 0) {
		if (errno != EEXIST)
			vt_die_errno(status, LOCK);
		other = owner(LOCK);
		if (alive(other))
			vt_die(status, "process %ld records already", other);
		take_away(other);
	}
	ours = true;
}

void vt_trace_unlock(void)
{
	if (ours)
		unlink(LOCK);
	ours = false;
}
