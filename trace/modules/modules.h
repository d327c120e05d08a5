/* What the files of this room share. Private to trace/modules. */
#pragma once

#include <lib/types.h>

struct module_check;
struct tracepoint;

/* modules/check.c: is it a whole tracepoint of the module that is checked? Context as in <kernel/module_check.h>. */
bool tracepoint_check(struct module_check *c, const struct tracepoint *tp);
