/* Numbers of limits, of whose use getrusage(2) tells, and of whom setpriority(2) means. */
#pragma once

#define RLIMIT_CPU	  0
#define RLIMIT_FSIZE	  1
#define RLIMIT_DATA	  2
#define RLIMIT_STACK	  3
#define RLIMIT_CORE	  4
#define RLIMIT_RSS	  5
#define RLIMIT_NPROC	  6
#define RLIMIT_NOFILE	  7
#define RLIMIT_MEMLOCK	  8
#define RLIMIT_AS	  9
#define RLIMIT_LOCKS	  10
#define RLIMIT_SIGPENDING 11
#define RLIMIT_MSGQUEUE	  12
#define RLIMIT_NICE	  13
#define RLIMIT_RTPRIO	  14
#define RLIMIT_RTTIME	  15

#define RUSAGE_SELF	0
#define RUSAGE_CHILDREN (-1)
#define RUSAGE_THREAD	1

#define PRIO_PROCESS 0
#define PRIO_PGRP    1
#define PRIO_USER    2
