/* Modules on this machine; included by <arch/module.h>. */
#pragma once

#define ARCH_MCOUNT	  "__fentry__"
#define ARCH_MCOUNT_FIELD 1 /* bytes from the begin of the call to the field that its relocation writes */
#define ARCH_MCOUNT_TYPE  4 /* R_X86_64_PLT32 */
#define ARCH_MCOUNT_SIZE  5 /* bytes of the call */
#define ARCH_MCOUNT_ALIGN 1
