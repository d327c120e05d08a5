/*
 * The tracer sysprof's samples: several records of a CPU, "identifier address frame/pid", from 0 (begin) over 1 (an
 * address of the kernel) and 2 (of the program) to 3 (end), innermost frame first. The option sched-tree makes records
 * of this type, too; what is not between a beginning and an end is none of a sample.
 */
#include "vtrace.h"

#include <string.h>

#define MAX_FRAMES 1100 /* more than the tracer records */

enum { BEGIN, KERNEL, USER, END };

/* Of a CPU: the sample that has begun. */
static struct {
	bool open;
	int count;
	const char *names[MAX_FRAMES]; /* innermost first */
	uint64_t last;		       /* what the frame before was: BEGIN, KERNEL, USER */
} * cpus;
static int nr_cpus;

void samples_forget(void)
{
	for (int i = 0; i < nr_cpus; i++)
		cpus[i].open = false;
}

/* A name for an address; a caller's is a return address, which may be the first of the next function. */
static const char *name_of(uint64_t id, uint64_t address, bool caller, int pid)
{
	const char *name;
	char number[24];

	if (id == KERNEL)
		return function_name(address - caller);
	name = elf_function(comm_of(pid), address - caller);
	snprintf(number, sizeof(number), "0x%llx", (unsigned long long)address);
	return name ? name : intern(number, NULL);
}

/*
 * A sample is several records of one CPU: its beginning, the addresses of the stack, innermost first, and its end. The
 * first address of the kernel's or the program's part is where it was interrupted, the others are return addresses.
 * A record outside of a sample is passed over. Returns the number of names at the end, else -1.
 */
int sample_record(const struct record *r, const uint64_t *args, const char ***names)
{
	while (nr_cpus <= r->cpu) {
		cpus = get_memory(cpus, (nr_cpus + 1) * sizeof(*cpus));
		memset(&cpus[nr_cpus++], 0, sizeof(*cpus));
	}
	if (args[0] == BEGIN && !args[1] && args[2] == (uint64_t)r->pid) {
		cpus[r->cpu].open = true;
		cpus[r->cpu].count = 0;
		cpus[r->cpu].last = BEGIN;
	} else if (cpus[r->cpu].open && (args[0] == KERNEL || args[0] == USER) && cpus[r->cpu].count < MAX_FRAMES) {
		cpus[r->cpu].names[cpus[r->cpu].count++] =
			name_of(args[0], args[1], args[0] == cpus[r->cpu].last, r->pid);
		cpus[r->cpu].last = args[0];
	} else if (cpus[r->cpu].open && args[0] == END) {
		cpus[r->cpu].open = false;
		*names = cpus[r->cpu].names;
		return cpus[r->cpu].count;
	}
	return -1;
}
