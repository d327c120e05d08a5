/* Loading modules into the kernel and taking them out. */
#ifndef VT_SYS_MODULE_H
#define VT_SYS_MODULE_H

/* Return 0, or -1 with errno. params: "name=value name2=value2", or "". flags of delete_module: O_NONBLOCK. */
int init_module(const void *image, unsigned long len, const char *params);
int finit_module(int fd, const char *params, int flags);
int delete_module(const char *name, unsigned flags);

#endif
