/* Filters on strings of programs: what a probe may read of them. */
#include <lib/string.h>
#include <mm/page.h>
#include <mm/uaccess.h>
#include <sched/sched.h>

#include "filter.h"

/* To the end of its page at a time: what is behind the string's end may not be there. */
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
