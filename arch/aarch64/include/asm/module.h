/* Modules on this machine; included by <arch/module.h>. */
#pragma once

#define ARCH_MCOUNT	  "_mcount"
#define ARCH_MCOUNT_FIELD 0 /* bytes from the begin of the call to the field that its relocation writes */
