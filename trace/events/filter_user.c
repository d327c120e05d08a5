/*
 * Filters on strings of programs ("filename.ustring ~ ..."): how a probe reads a program's memory. A probe must not
 * sleep, so a page that is not in memory is not brought in: the term is then false.
 */
#include <lib/string.h>
#include <mm/page.h>
#include <mm/uaccess.h>
#include <sched/sched.h>

#include "filter.h"

/*
 * Copies up to the end of a page at a time, because the page behind the string's end may not exist. In an NMI a fault
 * must not happen at all, and a kernel thread has no such memory.
 */
bool filter_user_text(char *to, size_t size, const char __user *from)
{
	size_t done = 0, n;

	if (in_nmi() || !current->mm)
		return false;
	while (done < size - 1) {
		n = min(size - 1 - done, PAGE_SIZE - (unsigned long)(from + done) % PAGE_SIZE);
		if (copy_from_user_nofault(to + done, from + done, n))
			return false;
		if (memchr(to + done, '\0', n))
			return true;
		done += n;
	}
	to[done] = '\0';
	return true;
}
