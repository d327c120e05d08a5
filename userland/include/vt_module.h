/*
 * Modules in the kernel (userland/lib/module.c), and finding the file of a module by its name, and the files of the
 * modules that it needs (userland/lib/module_dep.c).
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

struct vt_lines;

#define VT_MODULES "/proc/modules"

/* A line of VT_MODULES, in words that live until the next one is taken. */
struct vt_module {
	char *name, *size, *refs;
	char *users; /* "a,b"; "": the kernel names no user */
};

/* Take the next line of VT_MODULES. Returns false behind the last, or on an error. */
bool vt_next_module(struct vt_lines *lines, struct vt_module *m);

/* What errno says of a refused call about modules. */
const char *vt_module_error(void);

/* A line of modules.dep, cut into words: the module's own file, and those before it. */
struct vt_module_needs {
	const char *folder;
	char line[4096];
	char *files[64];
	int n;
	char path[PATH_MAX]; /* of vt_module_path() */
};

/*
 * The module of this name or alias: in `folder`, or for NULL in /lib/modules/RELEASE and then in /host. A name with a
 * slash is the path of a file. False: there is none.
 */
bool vt_find_module(struct vt_module_needs *needs, const char *folder, const char *name);
/* The path of the i-th of its files; it is overwritten by the next call. */
const char *vt_module_path(struct vt_module_needs *needs, int i);
