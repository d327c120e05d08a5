/* The kernel's log. */
#ifndef VT_SYS_KLOG_H
#define VT_SYS_KLOG_H

#define SYSLOG_ACTION_READ_ALL	    3
#define SYSLOG_ACTION_READ_CLEAR    4
#define SYSLOG_ACTION_CLEAR	    5
#define SYSLOG_ACTION_CONSOLE_LEVEL 8
#define SYSLOG_ACTION_SIZE_BUFFER   10

/* syslog(2). Returns a count of bytes, a size or 0, or -1 with errno. */
int klogctl(int action, char *buf, int len);

#endif
