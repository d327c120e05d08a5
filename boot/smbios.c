/*
 * The machine's name by SMBIOS (DMTF DSP0134, 3.6), where a BIOS has left it: "QEMU Standard PC
 * (i440FX + PIIX, 1996)". It is only shown, so a damaged table costs the name and nothing else.
 * Runs before paging_init(), while boot_map() works.
 */
#include <boot/boot_info.h>
#include <boot/x86_boot.h>
#include <lib/printf.h>
#include <lib/string.h>

/*
 * The entry point is at a multiple of 16 in this range (5.2.1). With UEFI it is elsewhere, and then
 * there is no name.
 */
#define BIOS_START 0xf0000
#define BIOS_END   0x100000

/* Entry points (5.2.1, 5.2.2): as much as we read of them. */
struct smbios2_entry {
	char anchor[4];
	u8 checksum, length, version[2];
	u16 max_size;
	u8 revision, formatted[5];
	char anchor2[5];
	u8 checksum2;
	u16 table_size;
	u32 table;
} __packed;
struct smbios3_entry {
	char anchor[5];
	u8 checksum, length, version[3], revision, reserved;
	u32 table_max_size;
	u64 table;
} __packed;

/*
 * A structure (6.1.2): `length` bytes, then strings, numbered from 1, each with its zero, and one more zero.
 */
struct smbios_structure {
	u8 type, length;
	u16 handle;
} __packed;
struct smbios_system {
	struct smbios_structure header;
	u8 manufacturer, product; /* numbers of strings, 0: none */
} __packed;
#define SMBIOS_SYSTEM 1
#define SMBIOS_END    127

static struct {
	const char *start, *end;
} table; /* [boot] */

/* Use the structures at `at`. If they cannot be reached, start is NULL and find_table() looks on. */
static void open_table(phys_addr_t at, u32 size)
{
	table.start = boot_map(at, size);
	table.end = table.start + size;
}

/* Look for an entry point of version 3 (64-bit address) or 2 (32-bit). */
static bool find_table(void)
{
	for (phys_addr_t at = BIOS_START; at + sizeof(struct smbios2_entry) <= BIOS_END && !table.start; at += 16) {
		const struct smbios2_entry *v2 = boot_map(at, sizeof(*v2));
		const struct smbios3_entry *v3 = boot_map(at, sizeof(*v3));

		if (!memcmp(v3->anchor, "_SM3_", sizeof(v3->anchor)))
			open_table(v3->table, v3->table_max_size);
		else if (!memcmp(v2->anchor, "_SM_", sizeof(v2->anchor)) &&
			 !memcmp(v2->anchor2, "_DMI_", sizeof(v2->anchor2)))
			open_table(v2->table, v2->table_size);
	}
	return table.start;
}

/* The byte after a string's zero, or NULL when the string does not end within the table. */
static const char *after_string(const char *s)
{
	const char *zero = s < table.end ? memchr(s, '\0', table.end - s) : NULL;

	return zero ? zero + 1 : NULL;
}

/*
 * String `number` of the structure; "" if it has no such string, or if that one does not end within
 * the table.
 */
static const char *string(const struct smbios_structure *s, unsigned number)
{
	const char *text = (const char *)s + s->length;

	while (text && number > 1) {
		text = after_string(text);
		number--;
	}
	return number && text && after_string(text) ? text : "";
}

/*
 * The structure behind this one's strings, or NULL. Two zeros end the strings, also when there is
 * no string.
 */
static const struct smbios_structure *next(const struct smbios_structure *s)
{
	const char *p = (const char *)s + s->length;

	do
		p = after_string(p);
	while (p && p < table.end && *p);
	return p ? (const void *)(p + 1) : NULL;
}

/* Does a whole structure begin here, and is it not the one that ends the table? */
static bool fits(const struct smbios_structure *s)
{
	return s && (const char *)(s + 1) <= table.end && s->length >= sizeof(*s) &&
	       s->length <= table.end - (const char *)s && s->type != SMBIOS_END;
}

/*
 * The machine's name, from the structure of type 1. False: there is no table, or none with a name. Context: boot, while
 * boot_map() works.
 */
bool smbios_read(void)
{
	static char name[64];
	const struct smbios_structure *s;

	if (!find_table())
		return false;
	for (s = (const void *)table.start; fits(s); s = next(s)) {
		const struct smbios_system *system = (const void *)s;

		if (s->type != SMBIOS_SYSTEM || s->length < sizeof(*system))
			continue;
		scnprintf(name, sizeof(name), "%s %s", string(s, system->manufacturer), string(s, system->product));
		boot_info.machine = name;
		return true;
	}
	return false;
}
