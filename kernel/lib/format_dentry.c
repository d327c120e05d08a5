/*
 * %pd, the name of a dentry: the one conversion that needs a structure of a higher layer. It has a file of its own so
 * that the rest of the formatter also links into programs without a file system (the unit tests on the host).
 *
 * The name is read without a lock, because messages are printed under all kinds of locks. A rename that runs meanwhile
 * may show the old name or the new one.
 */
#include <fs/vfs.h>

#include "format.h"

const char *format_dentry_name(const struct dentry *dentry)
{
	return READ_ONCE(dentry->d_name.name);
}
