/* Red-black trees. */
#pragma once

#include <lib/rbtree.h>

#define rb_entry_safe(p, type, member)           \
	({                                       \
		struct rb_node *_p = (p);        \
		_p ? rb_entry(_p, type, member) : NULL; \
	})
