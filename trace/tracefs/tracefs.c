/* The kind of text file that most control files are, and the array and CPU that an open file is about. */
#include <fs/libfs.h>

#include "refused.h"
#include "tracefs.h"

struct trace_array *tracefs_array(const struct file *file)
{
	return trace_file_array(file->f_inode->i_private);
}

int tracefs_cpu(const struct file *file)
{
	return trace_file_cpu(file->f_inode->i_private);
}

const struct text_kind tracefs_text = {.max = TRACEFS_TEXT_MAX, .refused = tracefs_text_refused};
