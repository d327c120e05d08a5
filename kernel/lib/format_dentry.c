/* %pd: the one conversion that knows a structure of a higher layer. */
#include <fs/vfs.h>

#include "format.h"

const char *format_dentry_name(const struct dentry *dentry)
{
	return READ_ONCE(dentry->d_name);
}
