/*
 * May the kernel follow what a module's tables point to? For parts that have a table in modules: their
 * module_notifier.check proves each pointer of it by these functions, before anybody follows one.
 *
 * A file whose checksum is right may still hold anything. These are the rules:
 *
 *	- What the kernel reads for as long as the module is there lies in the module's constants: nobody writes these,
 *	  so what was proved stays true. Memory of init does not count, as it goes.
 *	- What the kernel writes lies in the module's data, and no byte of that serves two purposes. A parameter whose
 *	  variable lay across a tracepoint would let whoever sets it write the tracepoint's pointers.
 *	- A function that the kernel calls lies in the module's text, or is one of the kernel's own.
 *
 * What the module's code does when it is called is its own affair. Context of all: thread, within `check`, with
 * module_mutex held. The functions that answer true or false write nothing but what they remember of the answer.
 */
#pragma once

#include <lib/types.h>

struct module;
struct module_check;

/* What a piece of memory is for. The same whole piece may be claimed twice for one purpose, where this says so. */
enum module_claim {
	CLAIM_TABLE = 1, /* a table, or the struct module: once */
	CLAIM_SITE,	 /* instructions that are patched, in the text of the module or of its init: once */
	CLAIM_KEY,	 /* a static key */
	CLAIM_STRUCT,	 /* a structure with pointers that the kernel follows */
	CLAIM_TEXT,	 /* the variable of a parameter: a pointer to a text. Also in the data of init */
	CLAIM_NUMBER, /* the variable of a parameter, bytes of any value: may overlap its like. Also in init's data */
};

const struct module *module_checked(const struct module_check *c);
/*
 * The table of this name and how many entries of `size` bytes it has; NULL and 0: there is none, or *err is -ENOEXEC
 * and a line in the log says so. It is aligned to 8 bytes, and lies in the constants, or if `written` in the data.
 */
void *module_check_table(struct module_check *c, const char *name, size_t size, bool written, unsigned *n, int *err);
/* `size` bytes of the module's data, or of its text for CLAIM_SITE, that serve nothing else. Aligned to 4 bytes, but
 * for numbers and sites. */
bool module_claim(struct module_check *c, const void *p, size_t size, enum module_claim what);
/* A structure in the module's constants, aligned to 8 bytes. */
bool module_has_const(const struct module_check *c, const void *p, size_t size);
/* A text in the module's constants, with the zero at its end; the second: one that can be the name of a file. */
bool module_has_text(const struct module_check *c, const char *text);
bool module_has_name(const struct module_check *c, const char *name);
/* A text that is read now and not later: in the module's memory or among the kernel's constants. */
bool module_reaches_text(const struct module_check *c, const char *text);
/* The begin of an instruction in the module's text. */
bool module_has_code(const struct module_check *c, unsigned long addr);
/* The same, or a function of the kernel, or NULL. */
bool module_may_call(const struct module_check *c, const void *fn);
/* Refuse the module, since an entry of this table points elsewhere. Returns -ENOEXEC. */
int module_bad_table(const struct module_check *c, const char *table);
