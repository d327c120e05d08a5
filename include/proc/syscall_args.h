/*
 * The arguments of system calls, type and name in turn, as Linux declares them: for their events. One macro a call, for
 * all machines; how many they are is in the machines' tables, and it does not compile when the two differ.
 */
#pragma once

#include <asm/syscall_abi.h>

/* A table, not code: a row that is too long goes on in the next line. */
/* clang-format off */
#define SYSCALL_ARGS_getcwd char *, buf, unsigned long, size
#define SYSCALL_ARGS_dup unsigned int, fildes
#define SYSCALL_ARGS_dup2 unsigned int, oldfd, unsigned int, newfd
#define SYSCALL_ARGS_dup3 unsigned int, oldfd, unsigned int, newfd, int, flags
#define SYSCALL_ARGS_fcntl unsigned int, fd, unsigned int, cmd, unsigned long, arg
#define SYSCALL_ARGS_ioctl unsigned int, fd, unsigned int, cmd, unsigned long, arg
#define SYSCALL_ARGS_mknodat int, dfd, const char *, filename, umode_t, mode, unsigned int, dev
#define SYSCALL_ARGS_mknod const char *, filename, umode_t, mode, unsigned, dev
#define SYSCALL_ARGS_mkdirat int, dfd, const char *, pathname, umode_t, mode
#define SYSCALL_ARGS_mkdir const char *, pathname, umode_t, mode
#define SYSCALL_ARGS_unlinkat int, dfd, const char *, pathname, int, flag
#define SYSCALL_ARGS_unlink const char *, pathname
#define SYSCALL_ARGS_rmdir const char *, pathname
#define SYSCALL_ARGS_symlinkat const char *, oldname, int, newdfd, const char *, newname
#define SYSCALL_ARGS_symlink const char *, oldname, const char *, newname
#define SYSCALL_ARGS_linkat int, olddfd, const char *, oldname, int, newdfd, const char *, newname, int, flags
#define SYSCALL_ARGS_link const char *, oldname, const char *, newname
#define SYSCALL_ARGS_renameat2 int, olddfd, const char *, oldname, int, newdfd, const char *, newname, \
	unsigned int, flags
#define SYSCALL_ARGS_renameat int, olddfd, const char *, oldname, int, newdfd, const char *, newname
#define SYSCALL_ARGS_rename const char *, oldname, const char *, newname
#define SYSCALL_ARGS_umount char *, name, int, flags
#define SYSCALL_ARGS_mount char *, dev_name, char *, dir_name, char *, type, unsigned long, flags, void *, data
#define SYSCALL_ARGS_statfs const char *, pathname, struct statfs *, buf
#define SYSCALL_ARGS_fstatfs unsigned int, fd, struct statfs *, buf
#define SYSCALL_ARGS_truncate const char *, path, long, length
#define SYSCALL_ARGS_ftruncate unsigned int, fd, off_t, length
#define SYSCALL_ARGS_faccessat int, dfd, const char *, filename, int, mode
#define SYSCALL_ARGS_faccessat2 int, dfd, const char *, filename, int, mode, int, flags
#define SYSCALL_ARGS_access const char *, filename, int, mode
#define SYSCALL_ARGS_chdir const char *, filename
#define SYSCALL_ARGS_fchdir unsigned int, fd
#define SYSCALL_ARGS_chroot const char *, filename
#define SYSCALL_ARGS_fchmod unsigned int, fd, umode_t, mode
#define SYSCALL_ARGS_fchmodat int, dfd, const char *, filename, umode_t, mode
#define SYSCALL_ARGS_chmod const char *, filename, umode_t, mode
#define SYSCALL_ARGS_fchownat int, dfd, const char *, filename, uid_t, user, gid_t, group, int, flag
#define SYSCALL_ARGS_chown const char *, filename, uid_t, user, gid_t, group
#define SYSCALL_ARGS_lchown const char *, filename, uid_t, user, gid_t, group
#define SYSCALL_ARGS_fchown unsigned int, fd, uid_t, user, gid_t, group
#define SYSCALL_ARGS_openat int, dfd, const char *, filename, int, flags, umode_t, mode
#define SYSCALL_ARGS_open const char *, filename, int, flags, umode_t, mode
#define SYSCALL_ARGS_creat const char *, pathname, umode_t, mode
#define SYSCALL_ARGS_close unsigned int, fd
#define SYSCALL_ARGS_close_range unsigned int, fd, unsigned int, max_fd, unsigned int, flags
#define SYSCALL_ARGS_pipe2 int *, fildes, int, flags
#define SYSCALL_ARGS_pipe int *, fildes
#define SYSCALL_ARGS_getdents64 unsigned int, fd, struct linux_dirent64 *, dirent, unsigned int, count
#define SYSCALL_ARGS_getdents unsigned int, fd, struct linux_dirent *, dirent, unsigned int, count
#define SYSCALL_ARGS_lseek unsigned int, fd, off_t, offset, unsigned int, whence
#define SYSCALL_ARGS_read unsigned int, fd, char *, buf, size_t, count
#define SYSCALL_ARGS_write unsigned int, fd, const char *, buf, size_t, count
#define SYSCALL_ARGS_readv unsigned long, fd, const struct iovec *, vec, unsigned long, vlen
#define SYSCALL_ARGS_writev unsigned long, fd, const struct iovec *, vec, unsigned long, vlen
#define SYSCALL_ARGS_pread64 unsigned int, fd, char *, buf, size_t, count, loff_t, pos
#define SYSCALL_ARGS_pwrite64 unsigned int, fd, const char *, buf, size_t, count, loff_t, pos
#define SYSCALL_ARGS_preadv unsigned long, fd, const struct iovec *, vec, unsigned long, vlen, unsigned long, pos_l, \
	unsigned long, pos_h
#define SYSCALL_ARGS_pwritev unsigned long, fd, const struct iovec *, vec, unsigned long, vlen, \
	unsigned long, pos_l, unsigned long, pos_h
#define SYSCALL_ARGS_sendfile64 int, out_fd, int, in_fd, loff_t *, offset, size_t, count
#define SYSCALL_ARGS_splice int, fd_in, loff_t *, off_in, int, fd_out, loff_t *, off_out, size_t, len, \
	unsigned int, flags
#define SYSCALL_ARGS_pselect6 int, n, fd_set *, inp, fd_set *, outp, fd_set *, exp, struct __kernel_timespec *, tsp, \
	void *, sig
#define SYSCALL_ARGS_select int, n, fd_set *, inp, fd_set *, outp, fd_set *, exp, struct __kernel_old_timeval *, tvp
#define SYSCALL_ARGS_ppoll struct pollfd *, ufds, unsigned int, nfds, struct __kernel_timespec *, tsp, \
	const sigset_t *, sigmask, size_t, sigsetsize
#define SYSCALL_ARGS_poll struct pollfd *, ufds, unsigned int, nfds, int, timeout_msecs
#define SYSCALL_ARGS_readlinkat int, dfd, const char *, pathname, char *, buf, int, bufsiz
#define SYSCALL_ARGS_readlink const char *, path, char *, buf, int, bufsiz
#define SYSCALL_ARGS_newfstatat int, dfd, const char *, filename, struct stat *, statbuf, int, flag
#define SYSCALL_ARGS_newfstat unsigned int, fd, struct stat *, statbuf
#define SYSCALL_ARGS_newstat const char *, filename, struct stat *, statbuf
#define SYSCALL_ARGS_newlstat const char *, filename, struct stat *, statbuf
#define SYSCALL_ARGS_statx int, dfd, const char *, filename, unsigned, flags, unsigned int, mask, \
	struct statx *, buffer
#define SYSCALL_ARGS_sync
#define SYSCALL_ARGS_fsync unsigned int, fd
#define SYSCALL_ARGS_fdatasync unsigned int, fd
#define SYSCALL_ARGS_syncfs int, fd
#define SYSCALL_ARGS_utimensat int, dfd, const char *, filename, struct __kernel_timespec *, utimes, int, flags
#define SYSCALL_ARGS_futimesat int, dfd, const char *, filename, struct __kernel_old_timeval *, utimes
#define SYSCALL_ARGS_utimes char *, filename, struct __kernel_old_timeval *, utimes
#define SYSCALL_ARGS_utime char *, filename, struct utimbuf *, times
#define SYSCALL_ARGS_personality unsigned int, personality
#define SYSCALL_ARGS_arm64_personality unsigned int, personality
#define SYSCALL_ARGS_exit int, error_code
#define SYSCALL_ARGS_exit_group int, error_code
#define SYSCALL_ARGS_waitid int, which, pid_t, upid, struct siginfo *, infop, int, options, struct rusage *, ru
#define SYSCALL_ARGS_wait4 pid_t, upid, int *, stat_addr, int, options, struct rusage *, ru
#define SYSCALL_ARGS_set_tid_address int *, tidptr
#define SYSCALL_ARGS_futex u32 *, uaddr, int, op, u32, val, const struct __kernel_timespec *, utime, u32 *, uaddr2, \
	u32, val3
#define SYSCALL_ARGS_set_robust_list struct robust_list_head *, head, size_t, len
#define SYSCALL_ARGS_nanosleep struct __kernel_timespec *, rqtp, struct __kernel_timespec *, rmtp
#define SYSCALL_ARGS_getitimer int, which, struct __kernel_old_itimerval *, value
#define SYSCALL_ARGS_setitimer int, which, struct __kernel_old_itimerval *, value, \
	struct __kernel_old_itimerval *, ovalue
#define SYSCALL_ARGS_alarm unsigned int, seconds
#define SYSCALL_ARGS_pause
#define SYSCALL_ARGS_clock_settime const clockid_t, which_clock, const struct __kernel_timespec *, tp
#define SYSCALL_ARGS_clock_gettime const clockid_t, which_clock, struct __kernel_timespec *, tp
#define SYSCALL_ARGS_clock_getres const clockid_t, which_clock, struct __kernel_timespec *, tp
#define SYSCALL_ARGS_clock_nanosleep const clockid_t, which_clock, int, flags, \
	const struct __kernel_timespec *, rqtp, struct __kernel_timespec *, rmtp
#define SYSCALL_ARGS_syslog int, type, char *, buf, int, len
#define SYSCALL_ARGS_sched_setparam pid_t, pid, struct sched_param *, param
#define SYSCALL_ARGS_sched_setscheduler pid_t, pid, int, policy, struct sched_param *, param
#define SYSCALL_ARGS_sched_getscheduler pid_t, pid
#define SYSCALL_ARGS_sched_getparam pid_t, pid, struct sched_param *, param
#define SYSCALL_ARGS_sched_setaffinity pid_t, pid, unsigned int, len, unsigned long *, user_mask_ptr
#define SYSCALL_ARGS_sched_getaffinity pid_t, pid, unsigned int, len, unsigned long *, user_mask_ptr
#define SYSCALL_ARGS_sched_yield
#define SYSCALL_ARGS_sched_get_priority_max int, policy
#define SYSCALL_ARGS_sched_get_priority_min int, policy
#define SYSCALL_ARGS_sched_rr_get_interval pid_t, pid, struct __kernel_timespec *, interval
#define SYSCALL_ARGS_sched_setattr pid_t, pid, struct sched_attr *, uattr, unsigned int, flags
#define SYSCALL_ARGS_sched_getattr pid_t, pid, struct sched_attr *, uattr, unsigned int, usize, unsigned int, flags
#define SYSCALL_ARGS_restart_syscall
#define SYSCALL_ARGS_kill pid_t, pid, int, sig
#define SYSCALL_ARGS_tkill pid_t, pid, int, sig
#define SYSCALL_ARGS_tgkill pid_t, tgid, pid_t, pid, int, sig
#define SYSCALL_ARGS_sigaltstack const stack_t *, uss, stack_t *, uoss
#define SYSCALL_ARGS_rt_sigsuspend sigset_t *, unewset, size_t, sigsetsize
#define SYSCALL_ARGS_rt_sigaction int, sig, const struct sigaction *, act, struct sigaction *, oact, \
	size_t, sigsetsize
#define SYSCALL_ARGS_rt_sigprocmask int, how, sigset_t *, nset, sigset_t *, oset, size_t, sigsetsize
#define SYSCALL_ARGS_rt_sigpending sigset_t *, uset, size_t, sigsetsize
#define SYSCALL_ARGS_rt_sigtimedwait const sigset_t *, uthese, siginfo_t *, uinfo, \
	const struct __kernel_timespec *, uts, size_t, sigsetsize
#define SYSCALL_ARGS_rt_sigqueueinfo pid_t, pid, int, sig, siginfo_t *, uinfo
#define SYSCALL_ARGS_rt_tgsigqueueinfo pid_t, tgid, pid_t, pid, int, sig, siginfo_t *, uinfo
#define SYSCALL_ARGS_rt_sigreturn
#define SYSCALL_ARGS_setpriority int, which, int, who, int, niceval
#define SYSCALL_ARGS_getpriority int, which, int, who
#define SYSCALL_ARGS_reboot int, magic1, int, magic2, unsigned int, cmd, void *, arg
#define SYSCALL_ARGS_setregid gid_t, rgid, gid_t, egid
#define SYSCALL_ARGS_setgid gid_t, gid
#define SYSCALL_ARGS_setreuid uid_t, ruid, uid_t, euid
#define SYSCALL_ARGS_setuid uid_t, uid
#define SYSCALL_ARGS_setresuid uid_t, ruid, uid_t, euid, uid_t, suid
#define SYSCALL_ARGS_getresuid uid_t *, ruidp, uid_t *, euidp, uid_t *, suidp
#define SYSCALL_ARGS_setresgid gid_t, rgid, gid_t, egid, gid_t, sgid
#define SYSCALL_ARGS_getresgid gid_t *, rgidp, gid_t *, egidp, gid_t *, sgidp
#define SYSCALL_ARGS_setxattr const char *, pathname, const char *, name, const void *, value, size_t, size, int, flags
#define SYSCALL_ARGS_lsetxattr const char *, pathname, const char *, name, const void *, value, size_t, size, int, flags
#define SYSCALL_ARGS_fsetxattr int, fd, const char *, name, const void *, value, size_t, size, int, flags
#define SYSCALL_ARGS_getxattr const char *, pathname, const char *, name, void *, value, size_t, size
#define SYSCALL_ARGS_lgetxattr const char *, pathname, const char *, name, void *, value, size_t, size
#define SYSCALL_ARGS_fgetxattr int, fd, const char *, name, void *, value, size_t, size
#define SYSCALL_ARGS_listxattr const char *, pathname, char *, list, size_t, size
#define SYSCALL_ARGS_llistxattr const char *, pathname, char *, list, size_t, size
#define SYSCALL_ARGS_flistxattr int, fd, char *, list, size_t, size
#define SYSCALL_ARGS_removexattr const char *, pathname, const char *, name
#define SYSCALL_ARGS_lremovexattr const char *, pathname, const char *, name
#define SYSCALL_ARGS_fremovexattr int, fd, const char *, name
#define SYSCALL_ARGS_setfsuid uid_t, uid
#define SYSCALL_ARGS_setfsgid gid_t, gid
#define SYSCALL_ARGS_times struct tms *, tbuf
#define SYSCALL_ARGS_setpgid pid_t, pid, pid_t, pgid
#define SYSCALL_ARGS_getpgid pid_t, pid
#define SYSCALL_ARGS_getpgrp
#define SYSCALL_ARGS_getsid pid_t, pid
#define SYSCALL_ARGS_setsid
#define SYSCALL_ARGS_getgroups int, gidsetsize, gid_t *, grouplist
#define SYSCALL_ARGS_setgroups int, gidsetsize, gid_t *, grouplist
#define SYSCALL_ARGS_newuname struct new_utsname *, name
#define SYSCALL_ARGS_sethostname char *, name, int, len
#define SYSCALL_ARGS_setdomainname char *, name, int, len
#define SYSCALL_ARGS_getrlimit unsigned int, resource, struct rlimit *, rlim
#define SYSCALL_ARGS_setrlimit unsigned int, resource, struct rlimit *, rlim
#define SYSCALL_ARGS_prlimit64 pid_t, pid, unsigned int, resource, const struct rlimit64 *, new_rlim, \
	struct rlimit64 *, old_rlim
#define SYSCALL_ARGS_getrusage int, who, struct rusage *, ru
#define SYSCALL_ARGS_umask int, mask
#define SYSCALL_ARGS_prctl int, option, unsigned long, arg2, unsigned long, arg3, unsigned long, arg4, \
	unsigned long, arg5
#define SYSCALL_ARGS_arch_prctl int, option, unsigned long, arg2
#define SYSCALL_ARGS_getcpu unsigned *, cpup, unsigned *, nodep, struct getcpu_cache *, unused
#define SYSCALL_ARGS_gettimeofday struct __kernel_old_timeval *, tv, struct timezone *, tz
#define SYSCALL_ARGS_settimeofday struct __kernel_old_timeval *, tv, struct timezone *, tz
#define SYSCALL_ARGS_time __kernel_old_time_t *, tloc
#define SYSCALL_ARGS_getpid
#define SYSCALL_ARGS_getppid
#define SYSCALL_ARGS_getuid
#define SYSCALL_ARGS_geteuid
#define SYSCALL_ARGS_getgid
#define SYSCALL_ARGS_getegid
#define SYSCALL_ARGS_gettid
#define SYSCALL_ARGS_sysinfo struct sysinfo *, info
#define SYSCALL_ARGS_brk unsigned long, brk
#define SYSCALL_ARGS_munmap unsigned long, addr, size_t, len
#define SYSCALL_ARGS_mremap unsigned long, addr, unsigned long, old_len, unsigned long, new_len, \
	unsigned long, flags, unsigned long, new_addr
#define SYSCALL_ARGS_mmap unsigned long, addr, unsigned long, len, unsigned long, prot, unsigned long, flags, \
	unsigned long, fd, unsigned long, off
#define SYSCALL_ARGS_mprotect unsigned long, start, size_t, len, unsigned long, prot
#define SYSCALL_ARGS_msync unsigned long, start, size_t, len, int, flags
#define SYSCALL_ARGS_mincore unsigned long, start, size_t, len, unsigned char *, vec
#define SYSCALL_ARGS_madvise unsigned long, start, size_t, len_in, int, behavior
#define SYSCALL_ARGS_fork
#define SYSCALL_ARGS_vfork
#define SYSCALL_ARGS_clone unsigned long, clone_flags, unsigned long, newsp, int *, parent_tidptr, \
	SYSCALL_CLONE_LAST_ARGS
#define SYSCALL_ARGS_clone3 struct clone_args *, uargs, size_t, size
#define SYSCALL_ARGS_execve const char *, filename, const char *const *, argv, const char *const *, envp
#define SYSCALL_ARGS_execveat int, fd, const char *, filename, const char *const *, argv, const char *const *, envp, \
	int, flags
#define SYSCALL_ARGS_getrandom char *, ubuf, size_t, len, unsigned int, flags
#define SYSCALL_ARGS_membarrier int, cmd, unsigned int, flags, int, cpu_id
#define SYSCALL_ARGS_init_module void *, umod, unsigned long, len, const char *, uargs
#define SYSCALL_ARGS_finit_module int, fd, const char *, uargs, int, flags
#define SYSCALL_ARGS_delete_module const char *, name_user, unsigned int, flags
#define SYSCALL_ARGS_ptrace long, request, long, pid, unsigned long, addr, unsigned long, data
#define SYSCALL_ARGS_process_vm_readv pid_t, pid, const struct iovec *, lvec, unsigned long, liovcnt, \
	const struct iovec *, rvec, unsigned long, riovcnt, unsigned long, flags
#define SYSCALL_ARGS_process_vm_writev pid_t, pid, const struct iovec *, lvec, unsigned long, liovcnt, \
	const struct iovec *, rvec, unsigned long, riovcnt, unsigned long, flags
#define SYSCALL_ARGS_eventfd unsigned int, count
#define SYSCALL_ARGS_eventfd2 unsigned int, count, int, flags
#define SYSCALL_ARGS_timerfd_create int, clockid, int, flags
#define SYSCALL_ARGS_timerfd_settime int, ufd, int, flags, const struct __kernel_itimerspec *, utmr, \
	struct __kernel_itimerspec *, otmr
#define SYSCALL_ARGS_timerfd_gettime int, ufd, struct __kernel_itimerspec *, otmr
#define SYSCALL_ARGS_epoll_create int, size
#define SYSCALL_ARGS_epoll_create1 int, flags
#define SYSCALL_ARGS_epoll_ctl int, epfd, int, op, int, fd, struct epoll_event *, event
#define SYSCALL_ARGS_epoll_wait int, epfd, struct epoll_event *, events, int, maxevents, int, timeout
#define SYSCALL_ARGS_epoll_pwait int, epfd, struct epoll_event *, events, int, maxevents, int, timeout, \
	const sigset_t *, sigmask, size_t, sigsetsize
#define SYSCALL_ARGS_epoll_pwait2 int, epfd, struct epoll_event *, events, int, maxevents, \
	const struct __kernel_timespec *, timeout, const sigset_t *, sigmask, size_t, sigsetsize
#define SYSCALL_ARGS_signalfd int, ufd, sigset_t *, user_mask, size_t, sizemask
#define SYSCALL_ARGS_signalfd4 int, ufd, sigset_t *, user_mask, size_t, sizemask, int, flags
#define SYSCALL_ARGS_pidfd_open pid_t, pid, unsigned int, flags
#define SYSCALL_ARGS_pidfd_send_signal int, pidfd, int, sig, siginfo_t *, info, unsigned int, flags
#define SYSCALL_ARGS_flock unsigned int, fd, unsigned int, cmd
#define SYSCALL_ARGS_memfd_create const char *, uname, unsigned int, flags
/* clang-format on */
