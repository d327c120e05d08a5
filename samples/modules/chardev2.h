/* The commands of /dev/chardev2, for the module and for programs. */
#pragma once

#include <linux/ioctl.h>

#define MAJOR_NUM 100
#define BUF_LEN	  80

#define IOCTL_SET_MSG	   _IOW(MAJOR_NUM, 0, char *)  /* the message becomes this text */
#define IOCTL_GET_MSG	   _IOR(MAJOR_NUM, 1, char *)  /* the message, to BUF_LEN bytes */
#define IOCTL_GET_NTH_BYTE _IOWR(MAJOR_NUM, 2, int)    /* returns byte number `argument` */
