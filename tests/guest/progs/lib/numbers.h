/* Numbers of system calls that the tests make and userland does not (Linux's, which differ between the
 * machines). */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <bits/syscall.h>

#ifdef __aarch64__
#define NR_statfs	   43
#define NR_readv	   65
#define NR_writev	   66
#define NR_mremap	   216
#define NR_pselect6	   72
#define NR_exit		   93
#define NR_futex	   98
#define NR_getitimer	   102
#define NR_setitimer	   103
#define NR_tkill	   130
#define NR_tgkill	   131
#define NR_sigaltstack	   132
#define NR_rt_sigsuspend   133
#define NR_rt_sigpending   136
#define NR_rt_sigtimedwait 137
#define NR_rt_sigqueueinfo 138
#define NR_rt_sigreturn	   139
#define NR_getcpu	   168
#define NR_gettid	   178
#define NR_waitid	   95
#define NR_setresuid	   147
#define NR_getsid	   156
#define NR_rt_tgsigqueueinfo 240
#define NR_restart_syscall 128
#define NR_mprotect	   226
#define NR_madvise	   233
#define NR_setuid	   146
#define NR_gettimeofday	   169
#define NR_settimeofday	   170
#define NR_prlimit64	   261
#define NR_clone3	   435
#else
#define NR_statfs	   137
#define NR_readv	   19
#define NR_writev	   20
#define NR_mremap	   25
#define NR_pselect6	   270
#define NR_exit		   60
#define NR_futex	   202
#define NR_getitimer	   36
#define NR_setitimer	   38
#define NR_tkill	   200
#define NR_tgkill	   234
#define NR_sigaltstack	   131
#define NR_rt_sigsuspend   130
#define NR_rt_sigpending   127
#define NR_rt_sigtimedwait 128
#define NR_rt_sigqueueinfo 129
#define NR_rt_sigreturn	   15
#define NR_getcpu	   309
#define NR_gettid	   186
#define NR_waitid	   247
#define NR_setresuid	   117
#define NR_getsid	   124
#define NR_rt_tgsigqueueinfo 297
#define NR_restart_syscall 219
#define NR_mprotect	   10
#define NR_madvise	   28
#define NR_setuid	   105
#define NR_gettimeofday	   96
#define NR_settimeofday	   164
#define NR_prlimit64	   302
#define NR_clone3	   435

/* Calls that only older machines have: each has a newer one that does the same and more. */
#define NR_open		   2
#define NR_stat		   4
#define NR_lstat	   6
#define NR_poll		   7
#define NR_access	   21
#define NR_pipe		   22
#define NR_select	   23
#define NR_dup2		   33
#define NR_pause	   34
#define NR_alarm	   37
#define NR_fork		   57
#define NR_vfork	   58
#define NR_getdents	   78
#define NR_rename	   82
#define NR_mkdir	   83
#define NR_rmdir	   84
#define NR_creat	   85
#define NR_link		   86
#define NR_unlink	   87
#define NR_symlink	   88
#define NR_readlink	   89
#define NR_chmod	   90
#define NR_chown	   92
#define NR_lchown	   94
#define NR_getpgrp	   111
#define NR_utime	   132
#define NR_mknod	   133
#define NR_arch_prctl	   158
#define NR_time		   201
#define NR_utimes	   235
#define NR_futimesat	   261
#endif

#endif
