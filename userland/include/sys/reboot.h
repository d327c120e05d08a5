/* Ending the system. */
#ifndef VT_SYS_REBOOT_H
#define VT_SYS_REBOOT_H

#define RB_AUTOBOOT  0x01234567
#define RB_POWER_OFF 0x4321fedc
#define RB_HALT	     0xcdef0123

/* Does not return on success; -1 with errno otherwise. */
int reboot(int command);

#endif
