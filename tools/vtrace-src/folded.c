/*
 * Folded stacks, "task;caller;function ns": the time that was spent in the function itself, for flame graphs.
 * Of a trace without a graph: how long tasks ran, by CPU.
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
	uint64_t ns; /* in all, with what it calls */
};

/* Of a track. */
struct stack {
	struct node root, *now;
};

static bool graph;

static void folded_track(struct track *t)
{
	struct stack *s = get_memory(NULL, sizeof(*s));

	*s = (struct stack){.root.name = t->name};
	s->now = &s->root;
	t->private_ = s;
}

static void folded_begin(struct track *t, uint64_t ts, const char *name)
{
	struct stack *s = t->private_;
	struct node *n;

	(void)ts;
	graph |= t->kind == TRACK_TASK;
	for (n = s->now->children; n && n->name != name; n = n->sibling)
		;
	if (!n) {
		n = get_memory(NULL, sizeof(*n));
		*n = (struct node){.parent = s->now, .sibling = s->now->children, .name = name};
		s->now->children = n;
	}
	s->now = n;
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
	uint64_t children = 0;

	for (const struct node *c = n->children; c; c = c->sibling)
		children += c->ns;
	if (n->parent && n->ns > children) {
		put_name(n);
		fprintf(out, " %llu\n", (unsigned long long)(n->ns - children));
	}
	for (const struct node *c = n->children; c; c = c->sibling)
		put_node(c);
}

static void folded_finish(uint64_t first, uint64_t last)
{
	(void)first, (void)last;
	for (const struct track *t = tracks(); t; t = t->next)
		if (t->kind == (graph ? TRACK_TASK : TRACK_CPU))
			put_node(&((struct stack *)t->private_)->root);
}

const struct sink folded_sink = {NULL, folded_track, folded_begin, folded_end, NULL, folded_finish, false};
