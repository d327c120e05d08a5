/*
 * Bootconfig: a tree of keys with values, in the text form that Linux defines (docs/bootconfig.md):
 *
 *	ftrace.event.sched { sched_switch.enable; sched_waking.filter = "pid == 1" }
 *	kernel.ftrace = function
 *
 * The parser knows neither the kernel nor the boot, so that the host's tools/bootconfig is made of the same code. No
 * lock: a tree does not change once it is parsed. Nothing here is traced.
 */
#pragma once

#include <lib/types.h>

/* Behind the initramfs: text, zeros, then a struct bootconfig_footer, all of it a multiple of BOOTCONFIG_ALIGN. */
#define BOOTCONFIG_MAGIC "#BOOTCONFIG\n"
#define BOOTCONFIG_ALIGN 4u
struct bootconfig_footer {
	u32 size;     /* bytes from the text's first to the footer, little endian */
	u32 checksum; /* sum of these bytes, little endian */
	char magic[12];
};

/* Linux's limits. */
#define BOOTCONFIG_TEXT_MAX  32767u /* bytes of text with the zero at its end */
#define BOOTCONFIG_NODES_MAX 8193u  /* with the root, of which Linux has none */
#define BOOTCONFIG_KEY_MAX   256u   /* bytes of all words of a key with the zero at its end */
#define BOOTCONFIG_DEPTH_MAX 16u    /* words of a key; braces inside of braces */

/* A word of a key, or a value. Numbers of nodes: 0 is the root, which stands for "none" as child and next. */
struct bootconfig_node {
	u16 text; /* where its text begins; BOOTCONFIG_VALUE: it is a value */
	u16 parent;
	u16 child; /* the first: values come before words */
	u16 next;  /* of the same parent */
};
#define BOOTCONFIG_VALUE 0x8000u

struct bootconfig {
	char *text; /* as it was given, cut by zeros */
	struct bootconfig_node *nodes;
	unsigned nr, max;  /* nodes in use; places for them. nr 0: there is no bootconfig */
	const char *wrong; /* what bootconfig_parse() has refused */
	unsigned at;	   /* and where: byte of the text */
};

/*
 * Make the tree of `text`, which must end with a zero, is cut into pieces and must stay. `nodes` has `max` places;
 * bootconfig_nodes_for() says how many are enough. 0, or -EINVAL: bc->wrong and bc->at say why, and bc->nr is 0.
 */
int bootconfig_parse(struct bootconfig *bc, char *text, struct bootconfig_node *nodes, unsigned max);
unsigned bootconfig_nodes_for(size_t length);
/* Line and column of a byte of the text as it was before it was parsed, both from 1. */
void bootconfig_place(const char *text, unsigned at, unsigned *line, unsigned *column);

/*
 * Is there a bootconfig at the end of these bytes? Its text, and how many bytes from there to `end` are its own; NULL:
 * there is none, or it is damaged: then *wrong says how. GRUB fills a file up to a multiple of four bytes, so up to
 * three more bytes may follow the footer.
 */
const char *bootconfig_at_end(const char *start, const char *end, size_t *bytes, const char **wrong);
u32 bootconfig_checksum(const char *bytes, size_t n);

static inline const char *bootconfig_text(const struct bootconfig *bc, unsigned node)
{
	return bc->text + (bc->nodes[node].text & ~BOOTCONFIG_VALUE);
}
/* The first value of a key, the one behind a value; 0: there are no more. */
unsigned bootconfig_first_value(const struct bootconfig *bc, unsigned key);
unsigned bootconfig_next_value(const struct bootconfig *bc, unsigned value);
#define bootconfig_for_each_value(bc, key, v) \
	for ((v) = bootconfig_first_value(bc, key); (v); (v) = bootconfig_next_value(bc, v))
/* The first word behind a key; the next one of the same parent is nodes[].next. 0: there are no more. */
unsigned bootconfig_first_key(const struct bootconfig *bc, unsigned key);
#define bootconfig_for_each_key(bc, parent, k) \
	for ((k) = bootconfig_first_key(bc, parent); (k); (k) = (bc)->nodes[k].next)
/* The key `words` ("a.b") below another one; 0: there is none. */
unsigned bootconfig_find(const struct bootconfig *bc, unsigned from, const char *words);
/*
 * Keys below `root` that have a value or no further word, in the order of the text: the first with key = root, then the
 * one behind `key`. 0: there are no more.
 */
unsigned bootconfig_next_leaf(const struct bootconfig *bc, unsigned root, unsigned key);
/* All words of a key from below `root` on, with dots; buf has BOOTCONFIG_KEY_MAX bytes. */
void bootconfig_name(const struct bootconfig *bc, unsigned root, unsigned key, char *buf);
/* By which of " and ' a value is quoted when it is shown. */
char bootconfig_quote(const char *value);
/*
 * The keys below `root` as words of a command line, each with a blank behind it: a key without a value is a word, each
 * value of a key gives NAME=VALUE, between double quotes if it has blanks. Returns the length; what is
 * beyond `size` bytes with the zero is not written.
 */
size_t bootconfig_words(const struct bootconfig *bc, unsigned root, char *buf, size_t size);
