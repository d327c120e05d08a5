/* Numbers of all system calls, SYS_<name>, and how this machine enters the kernel. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <bits/syscall.h>
#include <sys/syscall.h>

#endif
