/* What the build would take from C. */
#define EFAULT_ASM 14
