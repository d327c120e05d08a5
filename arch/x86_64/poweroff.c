/*
 * Ending the machine: by ACPI, or with an exit status by QEMU's isa-debug-exit. Starting it again: by the means that
 * PCs have had, from the newest to the oldest; each is given some time to work. Nothing here returns;
 * interrupts are off.
 */
#include <arch/fixmap.h>
#include <arch/poweroff.h>
#include <arch/processor.h>
#include <asm/io.h>
#include <boot/acpi.h>
#include <irq/irqflags.h>
#include <time/clock.h>

#define DEBUG_EXIT_PORT 0xf4 /* -device isa-debug-exit,iobase=0xf4,iosize=0x04; elsewhere there is no device at it */

/* PM1 control registers (ACPI 6.4, table 4.16). */
#define PM1_SCI_EN     (1 << 0)
#define PM1_SLP_TYP(t) ((t) << 10)
#define PM1_SLP_EN     (1 << 13)

#define ACPI_ENABLE_NS (300 * NSEC_PER_MSEC) /* firmware may take its time */
#define RESET_NS       (50 * NSEC_PER_MSEC)  /* after which we are still here, or not */

#define RESET_CONTROL	0xcf9 /* of Intel's and QEMU's chip sets */
#define RESET_HARD	0x02  /* which reset; */
#define RESET_NOW	0x04  /* done when this rises */
#define KBD_STATUS	0x64
#define KBD_INPUT_FULL	(1 << 1)
#define KBD_COMMAND	0x64
#define KBD_PULSE_RESET 0xfe

/* Until SCI_EN is set the registers are the firmware's, and sleep types written there do nothing. */
static void acpi_enable(void)
{
	u64 end = sched_clock() + ACPI_ENABLE_NS;

	if (!acpi_info.smi_command || (inw(acpi_info.pm1a_control) & PM1_SCI_EN))
		return;
	outb(acpi_info.acpi_enable, acpi_info.smi_command);
	while (!(inw(acpi_info.pm1a_control) & PM1_SCI_EN) && sched_clock() < end)
		cpu_relax();
}

/*
 * The sleep type is written first, and then again with the bit that starts it. What firmware has set beside it is kept.
 */
static void enter_sleep(u16 port, u8 type)
{
	u16 v;

	if (!port)
		return;
	v = (inw(port) & ~(PM1_SLP_TYP(7) | PM1_SLP_EN)) | PM1_SLP_TYP(type & 7);
	outw(v, port);
	outw(v | PM1_SLP_EN, port);
}

void arch_power_off(int status)
{
	raw_local_irq_disable();
	if (status)
		outl(status, DEBUG_EXIT_PORT);
	if (acpi_info.has_s5 && acpi_info.pm1a_control) {
		acpi_enable();
		enter_sleep(acpi_info.pm1a_control, acpi_info.s5_type_a);
		enter_sleep(acpi_info.pm1b_control, acpi_info.s5_type_b);
	}
	arch_halt();
}

/* A register in memory is reached through the slot for patching, which is not in use any more. */
static void reset_by_acpi(void)
{
	const struct acpi_register *r = &acpi_info.reset;

	if (!r->address)
		return;
	if (r->space == ACPI_IO) {
		outb(acpi_info.reset_value, r->address);
	} else {
		set_fixmap(FIX_PATCH, r->address & PAGE_MASK, PAGE_DEVICE);
		writeb(acpi_info.reset_value, (void *)(fix_to_virt(FIX_PATCH) + (r->address & ~PAGE_MASK)));
	}
	ndelay(RESET_NS);
}

static void reset_by_chip_set(void)
{
	outb(RESET_HARD, RESET_CONTROL);
	outb(RESET_HARD | RESET_NOW, RESET_CONTROL);
	ndelay(RESET_NS);
}

/* The keyboard controller has a pin at the CPU's reset. Where there is no controller all bits read as ones. */
static void reset_by_keyboard(void)
{
	u64 end = sched_clock() + RESET_NS;

	while ((inb(KBD_STATUS) & KBD_INPUT_FULL) && sched_clock() < end)
		cpu_relax();
	outb(KBD_PULSE_RESET, KBD_COMMAND);
	ndelay(RESET_NS);
}

/*
 * An exception with an empty IDT: neither its handler is found nor the double fault's. The CPU shuts down, and the
 * board resets it.
 */
static void reset_by_triple_fault(void)
{
	static const struct {
		u16 limit;
		u64 base;
	} __packed none;

	__asm__ volatile("lidt %0\n\tint3" : : "m"(none));
}

void arch_restart(void)
{
	raw_local_irq_disable();
	reset_by_acpi();
	reset_by_chip_set();
	reset_by_keyboard();
	reset_by_triple_fault();
	arch_halt();
}
