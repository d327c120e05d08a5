/* Modules on this machine; included by <arch/module.h>. */
#pragma once

#define ARCH_MCOUNT	  "_mcount"
#define ARCH_MCOUNT_FIELD 0   /* bytes from the begin of the call to the field that its relocation writes */
#define ARCH_MCOUNT_TYPE  283 /* R_AARCH64_CALL26 */
#define ARCH_MCOUNT_SIZE  4   /* bytes of the call */
#define ARCH_MCOUNT_ALIGN 4
