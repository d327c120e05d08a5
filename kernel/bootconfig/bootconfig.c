/*
 * Finds the bootconfig behind the initramfs, and shows it: /proc/bootconfig. The parser is parser.c; code that has keys
 * of its own looks for them in boot_config.
 *
 * The initramfs gives its memory back when it is unpacked, so the text is copied.
 */
#include <boot/boot_info.h>
#include <fs/seq_file.h>
#include <fs/text_file.h>
#include <kernel/bootconfig.h>
#include <kernel/cmdline.h>
#include <kernel/printk.h>
#include <lib/string.h>
#include <mm/page.h>

struct bootconfig boot_config;
static bool bootconfig_wanted; /* [boot] */

static int set_bootconfig(const char *value)
{
	bootconfig_wanted = true;
	return 0;
}
early_param("bootconfig", set_bootconfig);

/* The tree of a text of `length` bytes. False: the log says what is wrong with it. */
static bool bootconfig_load(const char *text, size_t length)
{
	unsigned places = bootconfig_nodes_for(length), line, column;
	char *copy = __va(memblock_alloc(length + 1, 8));
	struct bootconfig_node *nodes = __va(memblock_alloc(places * sizeof(*nodes), 8));

	memcpy(copy, text, length);
	if (!bootconfig_parse(&boot_config, copy, nodes, places)) {
		pr_info("Load bootconfig: %lu bytes %u nodes\n", (unsigned long)length, boot_config.nr - 1);
		return true;
	}
	bootconfig_place(text, boot_config.at, &line, &column);
	pr_err("Failed to parse bootconfig: %s at %u:%u.\n", boot_config.wrong, line, column);
	return false;
}

/* The words of the keys below `name`, in memory that lasts; NULL: there are none. */
static const char *bootconfig_words_of(const char *name)
{
	unsigned root = bootconfig_find(&boot_config, 0, name);
	size_t size = root ? bootconfig_words(&boot_config, root, NULL, 0) + 1 : 0;
	char *words;

	if (size < 2)
		return NULL;
	words = __va(memblock_alloc(size, 8));
	bootconfig_words(&boot_config, root, words, size);
	return words;
}

/*
 * Look for it and make the tree, and pass the keys kernel.* and init.* to the command line. An error is reported in one
 * line, and the boot goes on without it. A bootconfig that is not used is cut off the initrd all the same
 * (initrd_tail_bytes), for it is no archive. One that is damaged has no length that could be trusted.
 */
static void bootconfig_find_words(void)
{
	const char *start = __va(boot_info.initrd.base), *wrong = NULL, *text = NULL;

	if (boot_info.initrd.size)
		text = bootconfig_at_end(start, start + boot_info.initrd.size, &initrd_tail_bytes, &wrong);
	if (!bootconfig_wanted) {
		if (text)
			pr_notice("bootconfig: the one behind the initramfs is not used: "
				  "'bootconfig' is not on the command line\n");
		return;
	}
	if (wrong)
		pr_err("bootconfig: the one behind the initramfs is damaged: %s\n", wrong);
	else if (!text)
		pr_err("'bootconfig' found on command line, but no bootconfig found\n");
	else if (bootconfig_load(text, strlen(text)))
		cmdline_add(bootconfig_words_of("kernel"), bootconfig_words_of("init"));
}

static const struct word_source bootconfig_source = {.find = bootconfig_find_words};
REGISTER_WORD_SOURCE(bootconfig_source);

/* A line for each key, as in Linux, and behind them the loader's command line when keys were added to it. */
static int bootconfig_show(struct seq_file *m, void *data)
{
	char name[BOOTCONFIG_KEY_MAX];
	unsigned value;

	for (unsigned key = 0; (key = bootconfig_next_leaf(&boot_config, 0, key));) {
		bootconfig_name(&boot_config, 0, key, name);
		seq_printf(m, "%s = %s", name, bootconfig_first_value(&boot_config, key) ? "" : "\"\"");
		bootconfig_for_each_value(&boot_config, key, value) {
			const char *text = bootconfig_text(&boot_config, value);
			char quote = bootconfig_quote(text);

			seq_printf(m, "%c%s%c%s", quote, text, quote,
				   bootconfig_next_value(&boot_config, value) ? ", " : "");
		}
		seq_putc(m, '\n');
	}
	if (saved_command_line != boot_command_line)
		seq_printf(m, "# Parameters from bootloader:\n# %s\n", boot_command_line);
	return 0;
}
static const struct text_file bootconfig_entry = {.path = "bootconfig", .mode = 0444, .show = bootconfig_show};
REGISTER_PROC(bootconfig_entry);
