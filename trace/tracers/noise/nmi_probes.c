/*
 * Finding tracepoints that only some machines have.
 *
 * A tracer names a tracepoint by its symbol, and then every machine must define it. Interrupts that are a matter of one
 * machine (NMIs, the local timer of x86) have tracepoints in that machine's code alone, so they are looked up by name.
 */
#include <lib/string.h>

#include "nmi_probes.h"

struct tracepoint_search {
	const char *name;
	struct tracepoint *found;
};

static void compare_name(struct tracepoint *tp, void *priv)
{
	struct tracepoint_search *search = priv;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

struct tracepoint *find_kernel_tracepoint(const char *name)
{
	struct tracepoint_search search = {.name = name};

	for_each_kernel_tracepoint(compare_name, &search);
	return search.found;
}

/* False: this machine has no NMIs. */
static bool find_both(struct tracepoint_probe probes[2], void (*enter)(void *data, unsigned cpu),
		      void (*leave)(void *data, unsigned cpu))
{
	probes[0] = (struct tracepoint_probe){find_kernel_tracepoint("nmi_enter"), (void *)enter};
	probes[1] = (struct tracepoint_probe){find_kernel_tracepoint("nmi_exit"), (void *)leave};
	return probes[0].tp && probes[1].tp;
}

int nmi_probes_register(void (*enter)(void *data, unsigned cpu), void (*leave)(void *data, unsigned cpu), void *data)
{
	struct tracepoint_probe probes[2];

	return find_both(probes, enter, leave) ? tracepoint_probes_register(probes, 2, data) : 0;
}

void nmi_probes_unregister(void (*enter)(void *data, unsigned cpu), void (*leave)(void *data, unsigned cpu), void *data)
{
	struct tracepoint_probe probes[2];

	if (find_both(probes, enter, leave))
		tracepoint_probes_unregister(probes, 2, data);
}
