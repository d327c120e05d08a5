/* Where this machine's system calls differ from the others' in more than their numbers. */
#pragma once

/* clone(2): is the TLS pointer the fourth argument and the child's tid address the fifth, or the other way round? */
#define CLONE_TLS_FOURTH   false
#define NR_RESTART_SYSCALL 219
