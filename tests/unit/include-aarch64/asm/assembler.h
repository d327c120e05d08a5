/* The macros of assembly files, in a host program: functions that its library has too get another name. */
/* clang-format off */
#define __ASSEMBLY__
#define memcpy	k_memcpy
#define memmove k_memmove
#define memset	k_memset
#include_next <asm/assembler.h>
	.section .note.GNU-stack, "", %progbits
	.text
