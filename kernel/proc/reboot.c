/*
 * reboot(2): switching the machine off, starting it again, or stopping it for good. All three print a last message
 * while consoles still work, then stop the other CPUs, and then leave the rest to the machine (arch_power_off and its
 * like). They do not sync: there is no disk whose contents could be lost. Root only.
 */
#include <arch/poweroff.h>
#include <arch/processor.h>
#include <asm/uaccess.h>
#include <irq/irqflags.h>
#include <kernel/printk.h>
#include <kernel/reboot.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <proc/capability.h>
#include <proc/syscall.h>
#include <sched/current.h>

/*
 * The caller must pass two magic numbers, so that a wild call does not stop the machine. The second ones are
 * birthdays of Linux's author and his daughters, written as hexadecimal days, months and years.
 */
#define LINUX_REBOOT_MAGIC1  0xfee1deadu
#define LINUX_REBOOT_MAGIC2  672274793
#define LINUX_REBOOT_MAGIC2A 85072278
#define LINUX_REBOOT_MAGIC2B 369367448
#define LINUX_REBOOT_MAGIC2C 537993216

#define LINUX_REBOOT_CMD_RESTART   0x01234567u
#define LINUX_REBOOT_CMD_HALT	   0xcdef0123u
#define LINUX_REBOOT_CMD_CAD_ON	   0x89abcdefu
#define LINUX_REBOOT_CMD_CAD_OFF   0x00000000u
#define LINUX_REBOOT_CMD_POWER_OFF 0x4321fedcu
#define LINUX_REBOOT_CMD_RESTART2  0xa1b2c3d4u

/*
 * Print the last message, then make this CPU the only one that runs, for good. The message goes out first, while
 * other CPUs and interrupts can still help the consoles. Thread context; returns with interrupts off.
 */
static void shut_down(const char *message)
{
	pr_emerg("reboot: %s\n", message);
	console_flush();
	local_irq_disable();
	smp_send_stop();
	console_break_lock(); /* a stopped CPU may have held it, with text to print */
}

void kernel_power_off(int status)
{
	shut_down("Power down");
	arch_power_off(status);
}

void kernel_restart(void)
{
	shut_down("Restarting system");
	arch_restart();
}

void kernel_halt(void)
{
	shut_down("System halted");
	arch_halt();
}

/*
 * reboot(2): root's alone (-EPERM); the magic numbers are Linux's guard against a call by mistake (-EINVAL). Does not
 * return when it ends the machine.
 */
SYSCALL_DEFINE4(reboot, int, magic1, int, magic2, unsigned int, cmd, void __user *, arg)
{
	if (!capable(CAP_SYS_BOOT))
		return -EPERM;
	if (magic1 != LINUX_REBOOT_MAGIC1 || (magic2 != LINUX_REBOOT_MAGIC2 && magic2 != LINUX_REBOOT_MAGIC2A &&
					      magic2 != LINUX_REBOOT_MAGIC2B && magic2 != LINUX_REBOOT_MAGIC2C))
		return -EINVAL;
	switch (cmd) {
	case LINUX_REBOOT_CMD_RESTART:
	case LINUX_REBOOT_CMD_RESTART2: /* its argument is for firmware that understands it: none here */
		kernel_restart();
	case LINUX_REBOOT_CMD_HALT:
		kernel_halt();
	case LINUX_REBOOT_CMD_POWER_OFF:
		kernel_power_off(0);
	case LINUX_REBOOT_CMD_CAD_ON:
	case LINUX_REBOOT_CMD_CAD_OFF:
		return 0; /* there is no such key on a serial line, whichever way it is set */
	}
	return -EINVAL;
}
