/*
 * Folded stacks, "task;caller;function ns": the time that was spent in the function itself, for flame graphs.
 * Of a trace without a graph: how long tasks ran, by CPU. Of a trace with samples: how many there are of each stack.
 *
 * Times are those that the tracer measured, so that the sums are what trace_stat would say. Calls that are
 * not whole in the trace count only what was seen of them.
 */
#include "vtrace.h"

#include <stdlib.h>
#include <string.h>

/* A stack: its newest function, and the rest. */
struct node {
	struct node *parent, *sibling, *children;
	const char *name;
	uint64_t ns, samples; /* in all, with what it calls */
};

/* Of a track. */
struct stack {
	struct node root, *now;
};

static bool graph, samples;

static void folded_track(struct track *t)
{
	struct stack *s = get_memory(NULL, sizeof(*s));

	*s = (struct stack){.root.name = t->name};
	s->now = &s->root;
	t->private_ = s;
}

/* The one child of that name. */
static struct node *child(struct node *parent, const char *name)
{
	struct node *n;

	for (n = parent->children; n && n->name != name; n = n->sibling)
		;
	if (!n) {
		n = get_memory(NULL, sizeof(*n));
		*n = (struct node){.parent = parent, .sibling = parent->children, .name = name};
		parent->children = n;
	}
	return n;
}

static void folded_begin(struct track *t, uint64_t ts, const char *name)
{
	struct stack *s = t->private_;

	(void)ts;
	graph |= t->kind == TRACK_TASK;
	s->now = child(s->now, name);
}

/* In place of ns, each node counts the samples in which it is. */
static void folded_sample(struct track *t, const char *const *names, int n)
{
	struct stack *s = t->private_;
	struct node *at = &s->root;

	samples = true;
	while (n) {
		at = child(at, names[--n]);
		at->samples++;
	}
}

static void folded_end(struct track *t, uint64_t ts, const char *name, uint64_t ns, const char *mark)
{
	struct stack *s = t->private_;

	(void)ts, (void)name, (void)mark;
	s->now->ns += ns;
	s->now = s->now->parent;
}

static void put_name(const struct node *n)
{
	if (n->parent) {
		put_name(n->parent);
		putc(';', out);
	}
	for (const char *c = n->name; *c; c++)
		putc(*c == ';' ? ':' : *c, out);
}

static void put_node(const struct node *n)
{
	uint64_t all = samples ? n->samples : n->ns, children = 0;

	for (const struct node *c = n->children; c; c = c->sibling)
		children += samples ? c->samples : c->ns;
	if (n->parent && all > children) {
		put_name(n);
		fprintf(out, " %llu\n", (unsigned long long)(all - children));
	}
	for (const struct node *c = n->children; c; c = c->sibling)
		put_node(c);
}

static void folded_finish(uint64_t first, uint64_t last)
{
	(void)first, (void)last;
	for (const struct track *t = tracks(); t; t = t->next)
		if (t->kind == (graph || samples ? TRACK_TASK : TRACK_CPU))
			put_node(&((struct stack *)t->private_)->root);
}

const struct sink folded_sink = {.track = folded_track,
				 .begin = folded_begin,
				 .end = folded_end,
				 .finish = folded_finish,
				 .sample = folded_sample};
