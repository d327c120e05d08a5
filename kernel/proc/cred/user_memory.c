/*
 * Kernel memory that a user's programs make and that no process shows. A process can be killed for its own pages, but
 * what lies in sockets or in a queue of events stays as long as some descriptor leads there, and descriptors can be
 * passed on. So each user other than root may have an eighth of memory in such things, as its pipes have (Linux
 * bounds sockets of UDP alike, by net.ipv4.udp_mem, and leaves the rest to control groups). The last sixteenth of
 * memory, which is kept for programs and for the kernel itself, is not given to them, but for a small amount that
 * lets programs go on.
 *
 * Counts are atomic, and added before they are compared, so that two tasks cannot share the last bytes.
 */
#include <lib/atomic.h>
#include <mm/page.h>
#include <proc/cred.h>

#define MEMORY_SHARE 8	/* of all memory, at most */
#define SMALL_SHARE  64 /* of all memory, whatever is free */

/* The slow half of the check is for those who have more than the small share. */
bool user_charge_memory(struct user_struct *user, size_t bytes)
{
	u64 memory = (u64)totalram_pages() << PAGE_SHIFT, all = atomic_add_return(bytes, &user->memory);

	if (user == &root_user || all <= memory / SMALL_SHARE ||
	    (all <= memory / MEMORY_SHARE && nr_free_pages() > totalreserve_pages()))
		return true;
	user_uncharge_memory(user, bytes);
	return false;
}

void user_uncharge_memory(struct user_struct *user, size_t bytes)
{
	atomic64_add(-(s64)bytes, &user->memory);
}

unsigned long user_outside_pages(const struct user_struct *user)
{
	return (u64)atomic64_read(&user->memory) / PAGE_SIZE + atomic64_read(&user->shared_pages) +
	       atomic_read(&user->pipe_pages);
}
