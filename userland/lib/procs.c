/*
 * Processes as /proc shows them.
 *
 * A process may end between being found and being read: it is then left out, which is no error.
 *
 *     /proc/12/stat      12 (my prog) S 1 12 12 1025 ...      fields by number, see proc(5)
 *     /proc/12/cmdline   my\0prog\0-x\0                       words, each with its zero
 *
 * These are texts that the kernel makes when they are read: two reads are two moments, so a sum over
 * processes is never exact.
 */
#include <vt.h>
#include <ctype.h>
#include <dirent.h>

/* Number of the n-th field (from 3, as proc(5) counts them) after the name in /proc/<pid>/stat. */
static long stat_field(const char *after_name, int n)
{
	for (int i = 3; i <= n && *after_name; i++) {
		after_name += strspn(after_name, " ");
		if (i == n)
			return strtol(after_name, NULL, 10);
		after_name += strcspn(after_name, " ");
	}
	return 0;
}

/* "pid (name) state ppid ...": the name may hold anything, so its end is the last parenthesis. */
static bool parse_stat(struct vt_proc *p, const char *text)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	size_t n;

	if (!open || !close || close < open)
		return false;
	n = (size_t)(close - open - 1);
	/* A kernel's names have at most 15 bytes; those of others are cut. */
	if (n >= sizeof(p->comm))
		n = sizeof(p->comm) - 1;
	memcpy(p->comm, open + 1, n);
	p->comm[n] = '\0';
	close++;
	/* Fields that are not used are not kept; their numbers are proc(5)'s. */
	p->state = close[strspn(close, " ")];
	p->ppid = (int)stat_field(close, 4);
	p->pgrp = (int)stat_field(close, 5);
	p->session = (int)stat_field(close, 6);
	p->tty = (unsigned int)stat_field(close, 7);
	p->utime = (unsigned long)stat_field(close, 14);
	p->stime = (unsigned long)stat_field(close, 15);
	p->priority = (int)stat_field(close, 18);
	p->nice = (int)stat_field(close, 19);
	p->start = (unsigned long)stat_field(close, 22);
	p->vsize = (unsigned long)stat_field(close, 23);
	p->rss = stat_field(close, 24);
	p->cpu = (int)stat_field(close, 39);
	p->rt_priority = (int)stat_field(close, 40);
	p->policy = (int)stat_field(close, 41);
	return true;
}

/* The zero bytes between arguments become blanks. A kernel thread has no arguments. */
static void set_args(struct vt_proc *p, const char *line, size_t size)
{
	if (!line || size == 0) {
		snprintf(p->args, sizeof(p->args), "[%s]", p->comm);
		return;
	}
	if (size >= sizeof(p->args))
		size = sizeof(p->args) - 1;
	memcpy(p->args, line, size);
	while (size && p->args[size - 1] == '\0')
		size--;
	p->args[size] = '\0';
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)p->args[i];
		bool control = c < ' ' || c == 0x7f || (c < 0xa0 && i && (unsigned char)p->args[i - 1] == 0xc2);

		/* A newline in an argument would break ps's table, and an escape the terminal. Other
		 * languages may pass. */
		if (control)
			p->args[i] = ' ';
	}
}

/*
 * Read what /proc says of one process. Returns false when it has ended since its name was read from
 * the directory.
 */
static bool read_proc(struct vt_proc *p, const char *pid)
{
	char path[40], *text;
	size_t size = 0;
	bool good;

	memset(p, 0, sizeof(*p));
	p->pid = atoi(pid);
	snprintf(path, sizeof(path), "/proc/%d/stat", p->pid);
	text = vt_read_file(path, NULL);
	if (!text)
		return false;
	good = parse_stat(p, text);
	free(text);
	/* May fail or be empty: kernel threads and zombies have none. */
	snprintf(path, sizeof(path), "/proc/%d/cmdline", p->pid);
	text = vt_read_file(path, &size);
	set_args(p, text, size);
	free(text);
	return good;
}

/*
 * The caller's function must not keep the pointer: the structure is used again for the next process.
 * Only names that begin with a digit are processes; the others (cpuinfo, meminfo) are other files.
 */
int vt_each_proc(void (*work)(const struct vt_proc *p, void *arg), void *arg)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct vt_proc p;

	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		if (isdigit((unsigned char)entry->d_name[0]) && read_proc(&p, entry->d_name))
			work(&p, arg);
	}
	return closedir(dir);
}
