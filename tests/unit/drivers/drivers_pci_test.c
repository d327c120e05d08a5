/*
 * PCI configuration space: which functions are found, what their regions decode, and which addresses they get. The
 * model is the two ports of configuration mechanism #1 and a few functions behind them, among them such as QEMU never
 * shows: a bridge that leads back, a slot whose only function answers for all eight, registers of 64 bits and of
 * gigabytes, capabilities that form a ring.
 *
 * The model itself looks at what a driver must not do: an address that is changed while the device answers to it, a
 * write to the status register, an address of another form than the specification's.
 */
/* sources: */
/* include: tests/unit/include-io */
#include "../../../drivers/pci/bar.c"
#include "../../../drivers/pci/config.c"
#include "../../../drivers/pci/mmiotrace.c"
#include "../../../drivers/pci/probe.c"

#define WORDS 64

/* A function. The bits of a word that can be written are `writable`. */
struct function {
	u8 bus, slot, function;
	bool every_function; /* it does not look at the function's number */
	u32 words[WORDS], writable[WORDS];
};

static struct function functions[16];
static unsigned nr_functions, nr_errors;
static u32 address;

int printk(const char *fmt, ...)
{
	nr_errors++;
	return 0;
}

static struct function *addressed(void)
{
	assert_int_equal(config_lock.locked, 1); /* address and data belong together */
	assert_int_equal(address >> 24, 0x80);
	assert_int_equal(address & 3, 0);
	for (struct function *f = functions; f < functions + nr_functions; f++) {
		if (f->bus == (address >> 16 & 0xff) && f->slot == (address >> 11 & 0x1f) &&
		    (f->every_function || f->function == (address >> 8 & 7)))
			return f;
	}
	return NULL;
}

static u32 *word(void)
{
	return &addressed()->words[address >> 2 & 0x3f];
}

u32 host_in32(unsigned port)
{
	assert_int_equal(port, 0xcfc);
	return addressed() ? *word() : ~0u;
}

/* A BAR or the ROM's register: nothing may answer there while it changes. */
static void check_quiet(const struct function *f, unsigned at)
{
	bool region = (at >= PCI_BAR0 && at < PCI_BAR0 + 4 * PCI_BARS) || at == PCI_ROM_ADDRESS;

	if (region)
		assert_int_equal(f->words[PCI_COMMAND / 4] & PCI_COMMAND_MEMORY, 0);
	if (region && f->words[at / 4] & 1)
		assert_int_equal(f->words[PCI_COMMAND / 4] & PCI_COMMAND_IO, 0);
}

/*
 * The address, or a word at it. Only the function's own registers and the regions' are written, and never the word of
 * the command: with it goes the status register, in which a one that is written clears a bit.
 */
void host_out32(unsigned port, u32 v)
{
	unsigned at = address & 0xfc;
	struct function *f;
	u32 can;

	if (port == 0xcf8) {
		address = v;
		return;
	}
	assert_int_equal(port, 0xcfc);
	assert_int_not_equal(at, PCI_COMMAND);
	f = addressed();
	assert_true((at >= PCI_BAR0 && at < PCI_BAR0 + 4 * PCI_BARS) || at == PCI_ROM_ADDRESS || at >= 0x40);
	can = f->writable[at / 4];
	check_quiet(f, at);
	f->words[at / 4] = (f->words[at / 4] & ~can) | (v & can);
}

void host_out16(unsigned port, u16 v)
{
	unsigned shift = port & 2 ? 16 : 0;

	assert_int_equal(port & ~2u, 0xcfc);
	assert_false((address & 0xfc) == PCI_COMMAND && shift);
	*word() = (*word() & ~(0xffffu << shift)) | (u32)v << shift;
}

/* ---- What the model is told */

static void begin(void)
{
	memset(functions, 0, sizeof(functions));
	nr_functions = nr_errors = 0;
	next_free = WINDOW_START;
	while (pci_devices) {
		struct pci_dev *next = pci_devices->next;

		free(pci_devices);
		pci_devices = next;
	}
	pci_last = &pci_devices;
}

static struct function *add(unsigned bus, unsigned slot, unsigned function, u16 vendor, u16 device, u8 header)
{
	struct function *f = &functions[nr_functions++];

	*f = (struct function){.bus = bus, .slot = slot, .function = function};
	f->words[PCI_VENDOR_ID / 4] = vendor | (u32)device << 16;
	f->words[PCI_HEADER_TYPE / 4] = (u32)header << 16;
	return f;
}

/* Its n-th register decodes `size` bytes (below 4 GiB) and holds `value`, whose low bits say what it is. */
static void region(struct function *f, unsigned at, u32 size, u32 value)
{
	f->words[at / 4] = value;
	f->writable[at / 4] = size ? ~(size - 1) : 0;
}

static void region_64(struct function *f, unsigned bar, u64 size, u64 value)
{
	unsigned at = PCI_BAR0 / 4 + bar;
	u64 can = ~(size - 1);

	f->words[at] = (u32)value | BAR_TYPE_64;
	f->words[at + 1] = value >> 32;
	f->writable[at] = (u32)can & ~0xfu;
	f->writable[at + 1] = can >> 32;
}

static const struct pci_dev first = {.slot = 3};

/* ---- Configuration space */

/* Each byte, half and word is found at its place, and what is written goes nowhere else. */
static void test_words_and_their_parts(void **state)
{
	struct function *f;

	begin();
	f = add(0, 3, 0, 0x1234, 0x5678, 0);
	for (unsigned at = 0; at < 256; at++)
		((u8 *)f->words)[at] = at;
	for (unsigned at = 0; at < 256; at++) {
		assert_int_equal(pci_read8(&first, at), at);
		if (at % 2 == 0)
			assert_int_equal(pci_read16(&first, at), (at + 1) << 8 | at);
		if (at % 4 == 0)
			assert_int_equal(pci_read32(&first, at), *(u32 *)((u8 *)f->words + at));
	}
	/* A half that is written leaves the other as it is. */
	pci_write16(&first, 0x40, 0xabcd);
	assert_int_equal(f->words[0x10], 0x4342abcd);
	pci_write16(&first, 0x46, 0xabcd);
	assert_int_equal(f->words[0x11], 0xabcd4544);
	f->writable[0x12] = ~0u;
	pci_write32(&first, 0x48, 0x01020304);
	assert_int_equal(f->words[0x12], 0x01020304);
}

/* Each part of an address has its own place: bus 255, slot 31, function 7 are as far as they go. */
static void test_addresses(void **state)
{
	static const struct {
		u8 bus, slot, function;
		u32 address;
	} rows[] = {
		{0, 0, 0, 0x80000004},	 {0, 0, 7, 0x80000704},	   {0, 31, 0, 0x8000f804},
		{255, 0, 0, 0x80ff0004}, {255, 31, 7, 0x80ffff04},
	};

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct pci_dev dev = {.bus = rows[i].bus, .slot = rows[i].slot, .function = rows[i].function};

		assert_int_equal(pci_read16(&dev, PCI_STATUS), 0xffff); /* nothing is there */
		assert_int_equal(address, rows[i].address);
	}
}

static void capability(struct function *f, unsigned at, u8 id, u8 next)
{
	f->words[at / 4] = id | (u32)next << 8;
}

/*
 * Capabilities are found in the order of their list, each after the one before. A function that has none, a list that
 * leads into the header or back into itself, and one that fills the space all come to an end.
 */
static void test_capabilities(void **state)
{
	struct function *f;

	begin();
	f = add(0, 3, 0, 1, 1, 0);
	f->words[PCI_CAPABILITY_LIST / 4] = 0x43; /* the two lowest bits are reserved */
	capability(f, 0x40, 9, 0x52);
	capability(f, 0x50, PCI_CAP_ID_MSIX, 0xfc);
	capability(f, 0xfc, 9, 0);
	assert_int_equal(pci_find_capability(&first, 9, 0), 0); /* the status register says that there are none */
	f->words[PCI_STATUS / 4] = (u32)PCI_STATUS_CAP_LIST << 16;
	assert_int_equal(pci_find_capability(&first, 9, 0), 0x40);
	assert_int_equal(pci_find_capability(&first, 9, 0x40), 0xfc);
	assert_int_equal(pci_find_capability(&first, 9, 0xfc), 0);
	assert_int_equal(pci_find_capability(&first, PCI_CAP_ID_MSIX, 0), 0x50);
	assert_int_equal(pci_find_capability(&first, PCI_CAP_ID_MSIX, 0x50), 0);
	assert_int_equal(pci_find_capability(&first, 5, 0), 0);
	capability(f, 0xfc, 9, 0x40); /* a ring */
	assert_int_equal(pci_find_capability(&first, 5, 0), 0);
	f->words[PCI_CAPABILITY_LIST / 4] = 0x3c; /* inside the common header */
	assert_int_equal(pci_find_capability(&first, 0, 0), 0);
	/* As many as there is room for: the last is found as well. */
	f->words[PCI_CAPABILITY_LIST / 4] = 0x40;
	for (unsigned at = 0x40; at < 0x100; at += 4)
		capability(f, at, at == 0xfc ? 7 : 8, at == 0xfc ? 0 : at + 4);
	assert_int_equal(pci_find_capability(&first, 7, 0), 0xfc);
}

/* ---- Regions */

/* What is measured is right for each size and kind, and each register and the command are as before. */
static void test_sizes(void **state)
{
	for (unsigned shift = 4; shift < 40; shift++) {
		struct pci_dev dev = {.slot = 3};
		struct function *f, before;
		u64 size = 1ULL << shift;

		begin();
		f = add(0, 3, 0, 1, 1, 0);
		f->words[PCI_COMMAND / 4] = PCI_COMMAND_MEMORY | PCI_COMMAND_IO | PCI_COMMAND_MASTER;
		region_64(f, 0, size, 1ULL << 39);
		if (shift < 32)
			region(f, PCI_BAR0 + 8, size, 0);
		if (shift < 16)
			region(f, PCI_BAR0 + 12, size, BAR_IO);
		if (shift < 16)
			f->writable[PCI_BAR0 / 4 + 3] &= 0xffff; /* it has no upper half, as ports have none */
		region(f, PCI_BAR0 + 20, 32, BAR_TYPE_64);	 /* the last one has no room for 64 bits */
		if (shift >= 11 && shift < 32)
			region(f, PCI_ROM_ADDRESS, size, 1);
		f->writable[PCI_ROM_ADDRESS / 4] &= ~1u;
		before = *f;
		pci_size_regions(&dev);
		assert_memory_equal(f, &before, sizeof(before));
		assert_int_equal(dev.size[0], size);
		assert_int_equal(dev.size[1], 0); /* the upper half of the one before */
		assert_int_equal(dev.size[2], shift < 32 ? size : 0);
		assert_int_equal(dev.size[3], shift < 16 ? size : 0);
		assert_int_equal(dev.size[4], 0);
		assert_int_equal(dev.size[5], 32);
		assert_int_equal(dev.size[6], shift >= 11 && shift < 32 ? size : 0);
	}
}

/* A memory register of type 2 is the low word of two, unless it is the last one; a port never is. */
static void test_which_are_of_64_bits(void **state)
{
	struct function *f;

	begin();
	f = add(0, 3, 0, 1, 1, 0);
	for (unsigned bar = 0; bar < PCI_BARS; bar++) {
		f->words[PCI_BAR0 / 4 + bar] = BAR_TYPE_64 | 8;
		assert_int_equal(pci_bar_is_64(&first, bar), bar < PCI_BARS - 1);
		f->words[PCI_BAR0 / 4 + bar] = BAR_TYPE_64 | BAR_IO; /* a port that ends in 5 */
		assert_false(pci_bar_is_64(&first, bar));
		f->words[PCI_BAR0 / 4 + bar] = 2; /* below 1 MiB */
		assert_false(pci_bar_is_64(&first, bar));
		f->words[PCI_BAR0 / 4 + bar] = 6; /* reserved */
		assert_false(pci_bar_is_64(&first, bar));
	}
}

/*
 * What firmware has given stays, ports are left alone, and the rest gets addresses in the order of the registers, each
 * a multiple of its size. Another device goes on behind them.
 */
static void test_addresses_that_are_given(void **state)
{
	struct pci_dev dev = {.slot = 3}, other = {.slot = 4};
	struct function *f;

	begin();
	f = add(0, 3, 0, 1, 1, 0);
	f->words[PCI_COMMAND / 4] = 0x0410 << 16 | PCI_COMMAND_MEMORY;
	region(f, PCI_BAR0, 0x1000, 0xe0001000);
	region_64(f, 1, 0x4000, 0);
	region(f, PCI_BAR0 + 12, 64, 0xc000 | BAR_IO);
	region_64(f, 4, 0x10000, 0x780000000);
	pci_size_regions(&dev);
	assert_int_equal(pci_enable_device(&dev), 0);
	assert_int_equal(dev.bar[0].base, 0xe0001000);
	assert_int_equal(dev.bar[0].size, 0x1000);
	assert_int_equal(dev.bar[1].base, WINDOW_START);
	assert_int_equal(dev.bar[1].size, 0x4000);
	assert_int_equal(f->words[PCI_BAR0 / 4 + 1], WINDOW_START | BAR_TYPE_64);
	assert_int_equal(f->words[PCI_BAR0 / 4 + 2], 0);
	assert_int_equal(dev.bar[2].size, 0);
	assert_int_equal(dev.bar[3].base, 0);
	assert_int_equal(f->words[PCI_BAR0 / 4 + 3], 0xc000 | BAR_IO);
	assert_int_equal(dev.bar[4].base, 0x780000000);
	assert_int_equal(f->words[PCI_COMMAND / 4], 0x0410 << 16 | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);

	f = add(0, 4, 0, 1, 1, 0);
	region(f, PCI_BAR0, 0x10000, 0);
	region(f, PCI_BAR0 + 4, 0x1000, 0xe0002000);
	region(f, PCI_BAR0 + 20, 0x1000, 0);
	pci_size_regions(&other);
	assert_int_equal(pci_enable_device(&other), 0);
	assert_int_equal(other.bar[0].base, WINDOW_START + 0x10000);
	assert_int_equal(f->words[PCI_BAR0 / 4], WINDOW_START + 0x10000);
	assert_int_equal(other.bar[1].base, 0xe0002000);
	assert_int_equal(other.bar[5].base, WINDOW_START + 0x20000);
	assert_int_equal(f->words[PCI_COMMAND / 4], PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

/* The window's last byte can be given away, and no byte more. A device without its addresses is not switched on. */
static void test_window_is_full(void **state)
{
	for (unsigned more = 0; more < 2; more++) {
		struct pci_dev dev = {.slot = 3};
		struct function *f;

		begin();
		f = add(0, 3, 0, 1, 1, 0);
		f->words[PCI_COMMAND / 4] = PCI_COMMAND_IO;
		region(f, PCI_BAR0, 0x1000, 0);
		next_free = WINDOW_END - 0x1000 + more;
		pci_size_regions(&dev);
		assert_int_equal(pci_enable_device(&dev), more ? -ENOSPC : 0);
		assert_int_equal(dev.bar[0].base, more ? 0 : WINDOW_END - 0x1000);
		assert_int_equal(f->words[PCI_COMMAND / 4],
				 PCI_COMMAND_IO | (more ? 0 : PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER));
	}
}

/* A part of a region is mapped when all of it lies inside. */
static void test_parts_of_a_region(void **state)
{
	const struct pci_dev dev = {.bar = {[2] = {.base = 0xf0000000, .size = 0x2000},
					    [3] = {.base = 0, .size = 0x2000}, /* it has no address */
					    [5] = {.base = 0x780000000, .size = 0x1000}}};
	static const struct {
		unsigned bar;
		u64 offset, size;
		unsigned long at; /* 0: it is refused */
	} rows[] = {
		{2, 0, 0x2000, 0xf0000000},
		{2, 0x1000, 0x1000, 0xf0001000},
		{2, 0x1ff0, 16, 0xf0001ff0},
		{2, 0x1ff0, 17, 0},
		{2, 0, 0x2001, 0},
		{2, 0x2001, 0, 0},
		{2, 0x2000, 0, 0xf0002000}, /* nothing of it, at its end */
		{2, 1, ~0ULL, 0},
		{2, ~0ULL, 1, 0},
		{3, 0, 1, 0},
		{4, 0, 0, 0},
		{5, 0x800, 4, 0x780000800},
		{6, 0, 1, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal((unsigned long)pci_map_bar(&dev, rows[i].bar, rows[i].offset, rows[i].size),
				 rows[i].at);
}

/* ---- Which functions there are, and whose they are */

static unsigned probed[16], nr_probed;
static int probe_status;

/* It is switched on before its driver sees it. */
static int probe(struct pci_dev *dev)
{
	assert_int_equal(pci_read16(dev, PCI_COMMAND), PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	probed[nr_probed++] = dev->device;
	return probe_status;
}

static const struct pci_driver ours = {"ours", 0x1af4, 0x1000, 0x103f, probe};
REGISTER_PCI_DRIVER(ours);
static const struct pci_driver single = {"single", 0x8086, 0x1000, 0x1000, probe};
REGISTER_PCI_DRIVER(single);

static void check_devices(const u16 *devices, size_t n)
{
	const struct pci_dev *dev = pci_devices;

	for (size_t i = 0; i < n; i++, dev = dev->next) {
		assert_non_null(dev);
		assert_int_equal(dev->device, devices[i]);
	}
	assert_null(dev);
}

/* Slots and functions with holes between them, the last of each, and bridges of four kinds: the list is in order. */
static void test_functions(void **state)
{
	static const u16 wanted[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

	begin();
	add(0, 0, 0, 0x8086, 1, 0);
	add(0, 1, 0, 0x8086, 2, HEADER_MULTIFUNCTION);
	add(0, 1, 3, 0x8086, 3, 0); /* holes, and the last one */
	add(0, 1, 7, 0x8086, 4, 0);
	add(0, 2, 0, 0x8086, 5, 0)->every_function = true;
	add(0, 5, 0, 0x8086, 6, HEADER_BRIDGE)->words[PCI_SECONDARY_BUS / 4] = 2 << 8;
	add(2, 0, 0, 0x8086, 7, HEADER_BRIDGE)->words[PCI_SECONDARY_BUS / 4] = 2 << 8; /* leads to itself */
	add(2, 31, 0, 0x8086, 8, 0);
	add(0, 6, 0, 0x8086, 9, HEADER_BRIDGE);				     /* not set up */
	add(0, 31, 0, 0x8086, 10, 2)->words[PCI_SECONDARY_BUS / 4] = 1 << 8; /* of another kind: no bridge to PCI */
	add(1, 0, 0, 0x8086, 99, 0);					     /* no bridge leads there */
	assert_int_equal(pci_driver.probe(NULL), 0);
	check_devices(wanted, ARRAY_SIZE(wanted));
	assert_int_equal(pci_devices->vendor, 0x8086);
	assert_int_equal(pci_devices->next->next->next->function, 7);
	assert_int_equal(pci_devices->next->next->next->slot, 1);
	assert_int_equal(nr_probed, 0);
}

/* A driver names a vendor and devices, first and last; a bridge's registers are no regions. */
static void test_drivers(void **state)
{
	static const u16 devices[] = {0xfff, 0x1000, 0x1020, 0x103f, 0x1040};
	static const u16 wanted[] = {0xfff, 0x1000, 0x1020, 0x103f, 0x1040, 0x1000, 0x1001, 0x1000};

	for (int status = 0; status >= -ENODEV; status -= ENODEV) {
		const struct pci_dev *dev;

		begin();
		nr_probed = 0;
		probe_status = status;
		for (unsigned i = 0; i < ARRAY_SIZE(devices); i++)
			region(add(0, i, 0, 0x1af4, devices[i], 0), PCI_BAR0, 0x1000, 0);
		add(0, 10, 0, 0x8086, 0x1000, 0);
		add(0, 11, 0, 0x8086, 0x1001, 0);
		region(add(0, 12, 0, 0x8087, 0x1000, HEADER_BRIDGE), PCI_BAR0, 0x1000, 0);
		assert_int_equal(pci_driver.probe(NULL), 0);
		check_devices(wanted, ARRAY_SIZE(wanted));
		assert_int_equal(nr_probed, 4);
		assert_int_equal(nr_errors, status ? 4 : 0);
		dev = pci_devices;
		assert_null(dev->driver);
		assert_int_equal(dev->size[0], 0x1000); /* measured all the same */
		assert_int_equal(dev->bar[0].base, 0);
		for (unsigned i = 1; i < 4; i++) {
			dev = dev->next;
			assert_ptr_equal(dev->driver, status ? NULL : ours.name);
			assert_int_equal(probed[i - 1], dev->device);
			assert_int_equal(dev->bar[0].base, WINDOW_START + (i - 1) * 0x1000);
		}
		dev = dev->next;
		assert_null(dev->driver);
		dev = dev->next;
		assert_ptr_equal(dev->driver, status ? NULL : single.name);
		assert_null(dev->next->driver);
		assert_int_equal(dev->next->next->size[0], 0);
	}
}

static char line[256];

void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	size_t n = strlen(line);
	va_list args;

	va_start(args, fmt);
	vsnprintf(line + n, sizeof(line) - n, fmt, args);
	va_end(args);
}

/* A line for each device: both halves of an address of 64 bits, what kind a region is, and whether a ROM answers. */
static void test_lines_of_mmiotrace(void **state)
{
	struct function *f;

	begin();
	f = add(0, 3, 0, 0x8086, 7, 0);
	region_64(f, 0, 0x10000, 0x1200010000);
	region(f, PCI_BAR0 + 8, 0x1000, 0xfe000000);
	region(f, PCI_BAR0 + 12, 0x20, BAR_IO | 0xc000);
	region(f, PCI_ROM_ADDRESS, 0x800, 0xfd000001);
	f->words[PCI_INTERRUPT_LINE / 4] = 11;
	add(0, 31, 0, 0x1af4, 0x1043, 0);
	nr_probed = 0;
	assert_int_equal(pci_driver.probe(NULL), 0);
	line[0] = 0;
	assert_true(pci_show_device(NULL, 0));
	assert_string_equal(line, "PCIDEV 0018 80860007 b 1200010004 0 fe000000 c001 0 0 fd000001 "
				  "10000 0 1000 20 0 0 800 \n");
	line[0] = 0;
	assert_true(pci_show_device(NULL, 1));
	assert_string_equal(line, "PCIDEV 00f8 1af41043 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \n");
	assert_false(pci_show_device(NULL, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_and_their_parts),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_which_are_of_64_bits),
		cmocka_unit_test(test_addresses_that_are_given),
		cmocka_unit_test(test_window_is_full),
		cmocka_unit_test(test_parts_of_a_region),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_drivers),
		cmocka_unit_test(test_lines_of_mmiotrace),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	begin();
	return failed;
}
