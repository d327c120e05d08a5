/* How x86_64 enters the kernel, and the numbers of Linux's x86_64 system-call table that userland uses. */
#ifndef VT_BITS_SYSCALL_H
#define VT_BITS_SYSCALL_H

/*
 * Make system call nr. Arguments beyond those the call takes may be anything. The instruction itself spoils
 * rcx and r11. Returns what the kernel returned: a value, or -errno in -4095..-1.
 */
static inline long vt_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
			 : "+a"(nr)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory", "cc");
	return nr;
}

/* Numbers: Linux's arch/x86/entry/syscalls/syscall_64.tbl. */
#define NR_read			  0
#define NR_write		  1
#define NR_close		  3
#define NR_fstat		  5
#define NR_lseek		  8
#define NR_mmap			  9
#define NR_munmap		  11
#define NR_brk			  12
#define NR_rt_sigaction		  13
#define NR_rt_sigprocmask	  14
#define NR_ioctl		  16
#define NR_sched_yield		  24
#define NR_dup			  32
#define NR_nanosleep		  35
#define NR_getpid		  39
#define NR_clone		  56
#define NR_execve		  59
#define NR_wait4		  61
#define NR_kill			  62
#define NR_uname		  63
#define NR_fcntl		  72
#define NR_truncate		  76
#define NR_ftruncate		  77
#define NR_getcwd		  79
#define NR_chdir		  80
#define NR_umask		  95
#define NR_getrusage		  98
#define NR_statfs		  137
#define NR_prctl		  157
#define NR_sysinfo		  99
#define NR_times		  100
#define NR_getuid		  102
#define NR_syslog		  103
#define NR_getgid		  104
#define NR_geteuid		  107
#define NR_getegid		  108
#define NR_setpgid		  109
#define NR_getppid		  110
#define NR_setsid		  112
#define NR_getpgid		  121
#define NR_rt_sigtimedwait	  128
#define NR_getpriority		  140
#define NR_setpriority		  141
#define NR_sched_setparam	  142
#define NR_sched_getparam	  143
#define NR_sched_setscheduler	  144
#define NR_sched_getscheduler	  145
#define NR_sched_setattr	  314
#define NR_sched_getattr	  315
#define NR_sched_get_priority_max 146
#define NR_sched_get_priority_min 147
#define NR_sync			  162
#define NR_mount		  165
#define NR_umount2		  166
#define NR_reboot		  169
#define NR_sched_setaffinity	  203
#define NR_sched_getaffinity	  204
#define NR_getdents64		  217
#define NR_clock_settime	  227
#define NR_clock_gettime	  228
#define NR_clock_nanosleep	  230
#define NR_exit_group		  231
#define NR_openat		  257
#define NR_mkdirat		  258
#define NR_mknodat		  259
#define NR_newfstatat		  262
#define NR_unlinkat		  263
#define NR_renameat		  264
#define NR_linkat		  265
#define NR_symlinkat		  266
#define NR_readlinkat		  267
#define NR_fchmodat		  268
#define NR_faccessat		  269
#define NR_ppoll		  271
#define NR_splice		  275
#define NR_utimensat		  280
#define NR_dup3			  292
#define NR_membarrier		  324
#define NR_pipe2		  293

#endif
