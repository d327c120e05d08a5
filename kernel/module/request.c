/*
 * The kernel asks for a module: request_module("fs-9p") has modprobe load what goes by this name. modprobe knows names
 * of modules and their aliases (MODULE_ALIAS); /proc/sys/kernel/modprobe says which program that is.
 */
#include "internal.h"

#include <fs/libfs.h>
#include <kernel/init.h>
#include <kernel/printk.h>
#include <lib/string.h>
#include <proc/umh.h>
#include <sched/wait.h>
#include <trace/events/module.h>

/* Linux's limit. modprobe may load a module whose init asks for another one, and that for the first again. */
#define MAX_CONCURRENT 50
static atomic_t requests = ATOMIC_INIT(0);

#define PATH_SIZE 256 /* of modprobe's path, with its zero */
static DEFINE_MUTEX(path_lock);
static char modprobe_path[PATH_SIZE] = "/sbin/modprobe"; /* [path_lock] empty: no program is run */

/* -ENOENT: modprobe is switched off. Else as call_usermodehelper(). */
static int call_modprobe(char *name, bool wait)
{
	static char *envp[] = {"HOME=/", "TERM=linux", "PATH=/sbin:/usr/sbin:/bin:/usr/bin", NULL};
	char path[PATH_SIZE];
	char *argv[] = {path, "-q", "--", name, NULL};

	mutex_lock(&path_lock);
	strscpy(path, modprobe_path, sizeof(path));
	mutex_unlock(&path_lock);
	if (!*path)
		return -ENOENT;
	return call_usermodehelper(path, argv, envp, wait ? UMH_WAIT_PROC | UMH_KILLABLE : UMH_NO_WAIT);
}

/* The limit is about requests that are under way: one that does not wait is over as soon as modprobe has begun. */
int module_request(char *name, bool wait, unsigned long ip)
{
	int ret;

	trace_module_request(name, wait, ip);
	if (atomic_inc_return(&requests) > MAX_CONCURRENT) {
		pr_warn("request_module: %s is not asked for, as %d requests are under way: does a module ask for "
			"itself?\n",
			name, MAX_CONCURRENT);
		ret = -EBUSY;
	} else {
		ret = call_modprobe(name, wait);
	}
	atomic_dec(&requests);
	return ret;
}

static int modprobe_show(struct seq_file *m, void *v)
{
	mutex_lock(&path_lock);
	seq_printf(m, "%s\n", modprobe_path);
	mutex_unlock(&path_lock);
	return 0;
}

/* What does not fit is -EINVAL, where Linux would keep the beginning and run another program. */
static int modprobe_store(char *text, void *data)
{
	size_t len = strcspn(text, "\n");

	if (len >= PATH_SIZE)
		return -EINVAL;
	mutex_lock(&path_lock);
	memcpy(modprobe_path, text, len);
	modprobe_path[len] = '\0';
	mutex_unlock(&path_lock);
	return 0;
}
static const struct text_file modprobe_entry = {
	.path = "sys/kernel/modprobe", .mode = 0644, .show = modprobe_show, .store = modprobe_store};
REGISTER_PROC(modprobe_entry);
