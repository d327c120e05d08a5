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
#include <time.h>

#define LOCK "/run/trace.lock"

static bool ours;

/* The pid in a link; 0 for what is no link with a pid in it, which has no live owner; -1 when there is nothing. */
static long owner(const char *link)
{
	char text[24];
	ssize_t n = readlink(link, text, sizeof(text) - 1);

	if (n < 0 && errno == ENOENT)
		return -1;
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
	static const char *const names[] = {"trace-record", "trace-fn", "kmem-stat"};
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

/* Ten seconds of trying: a program that holds a removal lock needs it for a few system calls. */
#define TRIES	 10000
#define MAX_PATH 200

static void remove_stale(const char *lock, long dead, int status);

/*
 * Make the link `lock`, after the link of a dead owner has been removed. Returns 0, or the pid of the live
 * process that has it. Ends the program with `status` when the link cannot be made at all.
 */
static long take(const char *lock, int status)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	/* symlink() fails if the name exists: of any number of processes one succeeds. */
	while (symlink(pid, lock) < 0) {
		long other;

		if (errno != EEXIST)
			vt_die_errno(status, lock);
		other = owner(lock);
		if (alive(other))
			return other;
		if (other >= 0) /* else it has gone since, so try again */
			remove_stale(lock, other, status);
	}
	return 0;
}

/*
 * Remove the lock of a dead process. Several processes may find it dead at the same time, and a bare unlink()
 * would let a slow one remove the lock that a faster one has made since. So the right to remove LOCK is a lock
 * itself, LOCK.old, and whoever has that looks at the owner once more:
 *
 *     A: take LOCK.old; its owner is dead: unlink LOCK; unlink LOCK.old; symlink LOCK
 *     B:                                                take LOCK.old; the owner is A now: leave it
 *
 * Between the second look and the unlink the link cannot change: it is there, so nobody can make it; its owner
 * is dead; and only the owner of LOCK.old removes it for others. A process that is killed while it has LOCK.old
 * leaves that behind, which the next one removes by the same rule with LOCK.old.old.
 */
static void remove_stale(const char *lock, long dead, int status)
{
	char removal[MAX_PATH];

	if (snprintf(removal, sizeof(removal), "%s.old", lock) >= (int)sizeof(removal))
		vt_die(status, "%s: remove it, nothing else does", lock);
	for (int i = 0; take(removal, status); i++) {
		if (i == TRIES)
			vt_die(status, "%s: its owner does not go on", removal);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	if (owner(lock) == dead && !alive(dead))
		unlink(lock);
	unlink(removal);
}

/*
 * Become the one who records, or end the program with this status, saying who does. The lock of a
 * process that has died is taken over.
 */
void vt_trace_lock(int status)
{
	long other = take(LOCK, status);

	if (other)
		vt_die(status, "process %ld records already", other);
	ours = true;
}

void vt_trace_unlock(void)
{
	if (ours)
		unlink(LOCK);
	ours = false;
}
