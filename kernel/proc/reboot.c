/* reboot(2): off, restart, halt. */
#include <arch/poweroff.h>
#include <arch/processor.h>
#include <asm/uaccess.h>
#include <irq/irqflags.h>
#include <kernel/printk.h>
#include <kernel/reboot.h>
#include <kernel/smp.h>
#include <lib/errno.h>
#include <proc/syscall.h>
#include <sched/current.h>

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

/* The last message, while the consoles work as ever; then this CPU alone, for good. */
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

SYSCALL_DEFINE4(reboot, u32, magic1, u32, magic2, u32, cmd, void __user *, arg)
{
	if (current->euid)
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
