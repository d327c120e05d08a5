/* Numbers of system calls that the tests make and userland does not (Linux's, which differ between the
 * machines). */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <bits/syscall.h>

#ifdef __aarch64__
#define NR_ppoll	   73
#define NR_exit		   93
#define NR_futex	   98
#define NR_tkill	   130
#define NR_tgkill	   131
#define NR_rt_sigsuspend   133
#define NR_rt_sigpending   136
#define NR_rt_sigtimedwait 137
#define NR_rt_sigreturn	   139
#define NR_getcpu	   168
#define NR_gettid	   178
#define NR_mprotect	   226
#define NR_prlimit64	   261
#define NR_clone3	   435
#else
#define NR_ppoll	   271
#define NR_exit		   60
#define NR_futex	   202
#define NR_tkill	   200
#define NR_tgkill	   234
#define NR_rt_sigsuspend   130
#define NR_rt_sigpending   127
#define NR_rt_sigtimedwait 128
#define NR_rt_sigreturn	   15
#define NR_getcpu	   309
#define NR_gettid	   186
#define NR_mprotect	   10
#define NR_prlimit64	   302
#define NR_clone3	   435
#endif

#endif
