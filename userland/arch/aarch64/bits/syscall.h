/* How aarch64 enters the kernel, and the numbers of Linux's arm64 system-call table that userland uses. */
#ifndef VT_BITS_SYSCALL_H
#define VT_BITS_SYSCALL_H

/*
 * Make system call nr. Arguments beyond those the call takes may be anything. The kernel keeps every register
 * but x0. Returns what the kernel returned: a value, or -errno in -4095..-1.
 */
static inline long vt_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}

/* Order of clone's last two arguments is (tls, child_tid) here; userland passes 0 for both. */

/* Numbers: Linux's include/uapi/asm-generic/unistd.h, which arm64 uses as it is. */
#define NR_getcwd		  17
#define NR_dup			  23
#define NR_dup3			  24
#define NR_fcntl		  25
#define NR_ioctl		  29
#define NR_mknodat		  33
#define NR_mkdirat		  34
#define NR_unlinkat		  35
#define NR_symlinkat		  36
#define NR_linkat		  37
#define NR_renameat		  38
#define NR_umount2		  39
#define NR_mount		  40
#define NR_statfs		  43
#define NR_truncate		  45
#define NR_ftruncate		  46
#define NR_faccessat		  48
#define NR_chdir		  49
#define NR_fchmodat		  53
#define NR_openat		  56
#define NR_close		  57
#define NR_pipe2		  59
#define NR_getdents64		  61
#define NR_lseek		  62
#define NR_read			  63
#define NR_write		  64
#define NR_ppoll		  73
#define NR_splice		  76
#define NR_readlinkat		  78
#define NR_newfstatat		  79
#define NR_fstat		  80
#define NR_sync			  81
#define NR_utimensat		  88
#define NR_exit_group		  94
#define NR_nanosleep		  101
#define NR_clock_settime	  112
#define NR_clock_gettime	  113
#define NR_clock_nanosleep	  115
#define NR_syslog		  116
#define NR_sched_setparam	  118
#define NR_sched_setscheduler	  119
#define NR_sched_getscheduler	  120
#define NR_sched_setattr	  274
#define NR_sched_getattr	  275
#define NR_sched_getparam	  121
#define NR_sched_setaffinity	  122
#define NR_sched_getaffinity	  123
#define NR_sched_yield		  124
#define NR_sched_get_priority_max 125
#define NR_sched_get_priority_min 126
#define NR_kill			  129
#define NR_rt_sigaction		  134
#define NR_rt_sigprocmask	  135
#define NR_rt_sigtimedwait	  137
#define NR_setpriority		  140
#define NR_getpriority		  141
#define NR_reboot		  142
#define NR_times		  153
#define NR_setpgid		  154
#define NR_getpgid		  155
#define NR_setsid		  157
#define NR_uname		  160
#define NR_getrusage		  165
#define NR_umask		  166
#define NR_getpid		  172
#define NR_getppid		  173
#define NR_getuid		  174
#define NR_geteuid		  175
#define NR_getgid		  176
#define NR_getegid		  177
#define NR_prctl		  167
#define NR_sysinfo		  179
#define NR_brk			  214
#define NR_munmap		  215
#define NR_clone		  220
#define NR_execve		  221
#define NR_mmap			  222
#define NR_membarrier		  283
#define NR_wait4		  260

#endif
