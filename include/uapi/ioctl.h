/*
 * Numbers of commands for ioctl(2) that a driver chooses: | direction 2 bits | size 14 | type 8 | number 8 |. `type` is a
 * character that the driver has for itself.
 */
#pragma once

#define _IOC(dir, type, nr, size) (((dir) << 30) | ((size) << 16) | ((type) << 8) | (nr))
#define _IOC_NONE		  0U
#define _IOC_WRITE		  1U /* the program writes, the kernel reads */
#define _IOC_READ		  2U
#define _IO(type, nr)		  _IOC(_IOC_NONE, type, nr, 0)
#define _IOR(type, nr, what)	  _IOC(_IOC_READ, type, nr, (unsigned)sizeof(what))
#define _IOW(type, nr, what)	  _IOC(_IOC_WRITE, type, nr, (unsigned)sizeof(what))
#define _IOWR(type, nr, what)	  _IOC(_IOC_READ | _IOC_WRITE, type, nr, (unsigned)sizeof(what))
#define _IOC_DIR(cmd)		  (((cmd) >> 30) & 3)
#define _IOC_SIZE(cmd)		  (((cmd) >> 16) & 0x3fff)
#define _IOC_TYPE(cmd)		  (((cmd) >> 8) & 0xff)
#define _IOC_NR(cmd)		  ((cmd)&0xff)
