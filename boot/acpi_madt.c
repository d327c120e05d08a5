/*
 * ACPI's MADT: CPUs and interrupt controllers (ACPI 6.4, 5.2.12).
 *
 * The table is a header and a list of entries. Each begins with its type and its length, so that
 * entries of unknown types can be skipped. Three numbers are easily confused: an ISA interrupt (0
 * to 15, what old devices have), a GSI (a number for each pin of all IOAPICs together), and a
 * vector (what the CPU sees; drivers/irqchip/ioapic.c).
 */
#include <boot/acpi.h>
#include <boot/boot_info.h>
#include <irq/irq.h>
#include <kernel/printk.h>
#include <lib/string.h>

struct madt {
	struct acpi_table header;
	u32 lapic, flags;
} __packed;

/* Entries follow, each beginning with its type and length. */
struct madt_entry {
	u8 type, length;
} __packed;
enum madt_type {
	MADT_LAPIC = 0,
	MADT_IOAPIC = 1,
	MADT_OVERRIDE = 2,
	MADT_LAPIC_NMI = 4,
	MADT_LAPIC_ADDRESS = 5,
	MADT_X2APIC = 9,
	MADT_X2APIC_NMI = 10,
};
struct madt_lapic {
	struct madt_entry entry;
	u8 uid, id;
	u32 flags;
} __packed;
struct madt_x2apic {
	struct madt_entry entry;
	u16 reserved;
	u32 id, flags, uid;
} __packed;
struct madt_ioapic {
	struct madt_entry entry;
	u8 id, reserved;
	u32 address, gsi_base;
} __packed;
struct madt_override {
	struct madt_entry entry;
	u8 bus, irq;
	u32 gsi;
	u16 flags;
} __packed;
struct madt_lapic_nmi {
	struct madt_entry entry;
	u8 uid; /* 255: all */
	u16 flags;
	u8 lint;
} __packed;
struct madt_x2apic_nmi {
	struct madt_entry entry;
	u16 flags;
	u32 uid;
	u8 lint, reserved[3];
} __packed;
struct madt_lapic_address {
	struct madt_entry entry;
	u16 reserved;
	u64 address;
} __packed;

/*
 * The CPU is there and can be started. Bit 1, "online capable", marks sockets that may be filled
 * while the machine runs: no CPU answers there now, so they are not counted.
 */
#define LAPIC_ENABLED 1

/*
 * MPS INTI flags: polarity in bits 1 and 0, trigger in bits 3 and 2. The value 3 means active low,
 * or level-triggered. 0 means what the bus usually has, and for ISA that is the opposite: active
 * high, by edge.
 */
#define INTI_POLARITY(flags) ((flags)&3)
#define INTI_TRIGGER(flags)  ((flags) >> 2 & 3)
#define INTI_OTHER	     3

/*
 * Note an IOAPIC. One more than there is room for costs its interrupts and a message, and does not
 * end the boot.
 */
static void read_ioapic(const struct madt_ioapic *e)
{
	if (acpi_info.nr_ioapics == ACPI_MAX_IOAPICS)
		pr_warn("acpi: IOAPIC %u is one too many\n", e->id);
	else
		acpi_info.ioapic[acpi_info.nr_ioapics++] =
			(struct acpi_ioapic){.id = e->id, .gsi_base = e->gsi_base, .base = e->address};
}

/*
 * Note that an ISA interrupt does not arrive at the GSI of its own number. On nearly every PC the
 * timer's interrupt 0 arrives at GSI 2.
 */
static void read_override(const struct madt_override *e)
{
	if (acpi_info.nr_overrides == ACPI_MAX_OVERRIDES)
		pr_warn("acpi: the override of interrupt %u is one too many\n", e->irq);
	else
		acpi_info.override[acpi_info.nr_overrides++] = (struct acpi_override){
			.irq = e->irq,
			.gsi = e->gsi,
			.level = INTI_TRIGGER(e->flags) == INTI_OTHER,
			.low = INTI_POLARITY(e->flags) == INTI_OTHER,
		};
}

/* Both kinds of entry may name the same CPU; boot_add_cpu() takes it once. */
static void read_cpu(u32 id, u32 flags)
{
	if (flags & LAPIC_ENABLED)
		boot_add_cpu(id);
}

/*
 * Note which pin of the local APIC (LINT0 or LINT1) carries NMIs. The entry names a CPU too, which
 * is ignored: no machine is known to wire its CPUs differently.
 */
static void read_nmi(u8 lint)
{
	if (lint < 2)
		acpi_info.nmi_lints |= 1 << lint;
}

/* The bytes that an entry of this type must at least have; 0 for a type that is not read here. */
static unsigned entry_size(u8 type)
{
	switch (type) {
	case MADT_LAPIC:
		return sizeof(struct madt_lapic);
	case MADT_IOAPIC:
		return sizeof(struct madt_ioapic);
	case MADT_OVERRIDE:
		return sizeof(struct madt_override);
	case MADT_LAPIC_NMI:
		return sizeof(struct madt_lapic_nmi);
	case MADT_X2APIC_NMI:
		return sizeof(struct madt_x2apic_nmi);
	case MADT_LAPIC_ADDRESS:
		return sizeof(struct madt_lapic_address);
	case MADT_X2APIC:
		return sizeof(struct madt_x2apic);
	default:
		return 0;
	}
}

/* Read one entry, whose length acpi_read_madt() has checked against its type. */
static void read_entry(const struct madt_entry *e)
{
	switch (e->type) {
	case MADT_LAPIC:
		read_cpu(((const struct madt_lapic *)e)->id, ((const struct madt_lapic *)e)->flags);
		break;
	case MADT_X2APIC:
		read_cpu(((const struct madt_x2apic *)e)->id, ((const struct madt_x2apic *)e)->flags);
		break;
	case MADT_IOAPIC:
		read_ioapic((const struct madt_ioapic *)e);
		break;
	case MADT_OVERRIDE:
		read_override((const struct madt_override *)e);
		break;
	case MADT_LAPIC_NMI:
		read_nmi(((const struct madt_lapic_nmi *)e)->lint);
		break;
	case MADT_X2APIC_NMI:
		read_nmi(((const struct madt_x2apic_nmi *)e)->lint);
		break;
	case MADT_LAPIC_ADDRESS:
		acpi_info.lapic = ((const struct madt_lapic_address *)e)->address;
		break;
	}
}

/* Walk the entries of the MADT: CPUs, interrupt controllers, overrides of interrupt numbers. */
void acpi_read_madt(void)
{
	const struct madt *madt = (const struct madt *)acpi_find_table("APIC");
	u32 at = sizeof(*madt);

	if (!madt || madt->header.length < sizeof(*madt)) {
		pr_warn("acpi: no usable MADT: one CPU, no interrupt controllers\n");
		return;
	}
	acpi_info.lapic = madt->lapic;
	/* Past an entry whose length cannot be right there is no way to tell where the next begins. */
	while (at + sizeof(struct madt_entry) <= madt->header.length) {
		const struct madt_entry *e = (const void *)((const char *)madt + at);

		if (e->length < sizeof(*e) || e->length > madt->header.length - at || e->length < entry_size(e->type)) {
			pr_warn("acpi: MADT: entry of type %u at offset %u has length %u: the rest is not used\n",
				e->type, at, e->length);
			return;
		}
		read_entry(e);
		at += e->length;
	}
}

void acpi_isa_irq(unsigned irq, unsigned *gsi, unsigned *type)
{
	*gsi = irq;
	*type = IRQ_TYPE_EDGE;
	for (unsigned i = 0; i < acpi_info.nr_overrides; i++) {
		const struct acpi_override *o = &acpi_info.override[i];

		if (o->irq != irq)
			continue;
		*gsi = o->gsi;
		*type = (o->level ? IRQ_TYPE_LEVEL : IRQ_TYPE_EDGE) | (o->low ? IRQ_TYPE_LOW : 0);
	}
}
