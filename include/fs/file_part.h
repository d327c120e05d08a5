/* Rooms that keep something for open files, and are not known to kernel/fs. */
#pragma once

#include <lib/types.h>

struct file;

struct file_part {
	/*
	 * The last reference to a file is gone, and f_ep is set: take away what hangs there. Its names and its
	 * operations are there still. Thread context, no lock held; may sleep.
	 */
	void (*release)(struct file *f);
};
#define REGISTER_FILE_PART(p) REGISTER_IN(file_parts, p)
DECLARE_TABLE(file_parts, const struct file_part);
