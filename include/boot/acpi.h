/*
 * What ACPI tells (ACPI specification 6.4), read once by acpi_init() while firmware's tables can be reached,
 * and kept. Afterwards the tables are not read any more. All immutable after boot.
 */
#pragma once

#include <lib/types.h>

#define ACPI_MAX_IOAPICS   8
#define ACPI_MAX_OVERRIDES 16

/* A register (5.2.3.2 "Generic Address Structure"). */
enum acpi_space {
	ACPI_MEMORY = 0,
	ACPI_IO = 1,
};
struct acpi_register {
	u8 space;    /* enum acpi_space; others are not used here */
	u64 address; /* 0: there is none */
};

/* An ISA interrupt that is not wired to the GSI of its own number, or not edge-triggered (5.2.12.5). */
struct acpi_override {
	u8 irq;
	u32 gsi;
	bool level, low; /* else edge, active high */
};
struct acpi_ioapic {
	u8 id;
	u32 gsi_base;
	phys_addr_t base;
};

struct acpi_info {
	char oem[16]; /* manufacturer and model as the root table names them, "" without ACPI */

	/* FADT: how to turn the machine off and to reset it. Ports are 0 where there are none. */
	u16 pm1a_control, pm1b_control;
	u32 smi_command;	 /* while bit 0 (SCI_EN) of PM1a control is clear the registers are firmware's: write */
	u8 acpi_enable;		 /* this to that port first (4.8.3.2.1 "PM1 Control"); port 0: not needed */
	bool has_s5;		 /* the sleep type below is known: \_S5 was found in the DSDT */
	u8 s5_type_a, s5_type_b; /* SLP_TYP for PM1a and PM1b control, bits 10 to 12 there; SLP_EN is bit 13 */
	struct acpi_register reset; /* write reset_value there */
	u8 reset_value;
	u16 pm_timer;	  /* port of the 3.58 MHz counter, 0: none */
	u8 century;	  /* which cell of the real-time clock's CMOS has the century, 0: none */
	bool no_cmos_rtc; /* IA-PC boot architecture flags say so */

	/* HPET table; 0 without. */
	phys_addr_t hpet;

	/* MADT. */
	phys_addr_t lapic; /* 0: no MADT */
	u8 nmi_lints;	   /* bit n: pin LINTn of the local APICs is wired to NMI (5.2.12.7), of some at least */
	unsigned nr_ioapics, nr_overrides;
	struct acpi_ioapic ioapic[ACPI_MAX_IOAPICS];
	struct acpi_override override[ACPI_MAX_OVERRIDES];
};
extern struct acpi_info acpi_info;

/* The header that all tables but the root pointer have (5.2.6). */
struct acpi_table {
	char signature[4];
	u32 length; /* header included */
	u8 revision, checksum;
	char oem_id[6], oem_table_id[8];
	u32 oem_revision;
	char creator[4];
	u32 creator_revision;
} __packed;

/*
 * Find the root pointer (boot_info.rsdp, else by looking where a BIOS puts it), fill acpi_info and the CPUs
 * of boot_info. A missing or malformed table costs a line on the console and what it would have told. Boot,
 * before paging_init.
 */
void acpi_init(void);

/*
 * The first table of a signature: whole, in reach and with a right checksum; else NULL (malformed: reported).
 * Good until paging_init.
 */
const struct acpi_table *acpi_find_table(const char *signature);
/* The same for a table whose address another one gives. */
const struct acpi_table *acpi_table_at(phys_addr_t phys, const char *signature);
/* MADT and, from FADT, HPET and DSDT, all the rest: the parts of acpi_init. */
void acpi_read_madt(void);
void acpi_read_fixed(void);

/* Where an ISA interrupt arrives, and how (IRQ_TYPE_*, IRQ_TYPE_LOW added when it is active low). Any context. */
void acpi_isa_irq(unsigned irq, unsigned *gsi, unsigned *type);
