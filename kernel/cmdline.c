/*
 * The kernel command line, and which code gets which word. Code that wants a word registers for it, in one of two
 * passes: early_param() before memory is set up, __setup() after it. Words that a bootconfig adds come to both, to the
 * first as soon as the bootconfig is read. Words that no code has registered go to the first program, "a=b" into its
 * environment and others into its arguments; so does everything behind "--". Boot, one CPU: no locks.
 */
#include <kernel/cmdline.h>
#include <kernel/panic.h>
#include <kernel/printk.h>
#include <lib/errno.h>
#include <lib/printf.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/fork.h>

DECLARE_TABLE(params, const struct boot_param);
DECLARE_TABLE(ignored_words, const struct ignored_words);
DECLARE_TABLE(word_sources, const struct word_source);

char boot_command_line[2048];
const char *init_argv[32] = {"init"};
const char *init_envp[32] = {"HOME=/", "TERM=linux"};

/*
 * The command line, cut into words by zeros. Each pass has its own copy. The one of the second pass is kmalloc'ed and
 * stays for good, because the arguments of init point into it.
 */
static char early_words[sizeof(boot_command_line)];

const char *saved_command_line = boot_command_line;

/*
 * Cut the next word off *line: blanks separate, except between double quotes, which are dropped.
 * a="b c" and "a=b c" both give a=b c. NULL at the end.
 */
static char *cmdline_next_word(char **line)
{
	char *from = *line, *to, *word;
	bool quoted = false;

	while (isspace(*from))
		from++;
	if (!*from)
		return NULL;
	for (word = to = from; *from && (quoted || !isspace(*from)); from++) {
		if (*from == '"')
			quoted = !quoted;
		else
			*to++ = *from;
	}
	*line = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

/* Linux takes - and _ in names of parameters for the same. */
static bool same_char(char a, char b)
{
	return (a == '-' ? '_' : a) == (b == '-' ? '_' : b);
}

/*
 * The value when `word` is for the parameter `name`, else NULL. The name "x=" takes "x=value" only, and "x," takes
 * "x,value"; the name "x" takes "x", whose value is empty, and "x=value".
 */
static const char *param_value(const char *name, const char *word)
{
	while (*name && same_char(*name, *word)) {
		if (*name == '=' || *name == ',')
			return word + 1;
		name++;
		word++;
	}
	if (*name)
		return NULL;
	if (*word == '=')
		return word + 1;
	return *word ? NULL : word;
}

/*
 * Give a word to each function that is registered for it in this pass. True: there is such a function, if only in
 * the other pass, so the word is not for init.
 */
static bool parse_word(const char *word, bool early)
{
	const struct boot_param *param;
	bool known = false;

	for_each_in_table(params, param) {
		const char *value = param_value(param->name, word);
		int err;

		if (!value)
			continue;
		known = true;
		if (param->early != early)
			continue;
		err = param->set(value);
		if (err)
			pr_warn("Kernel command line: '%s' refused: %s\n", word, errno_text(-err));
	}
	return known;
}

/* Words behind "--" are for init alone. */
void parse_early_params(void)
{
	char *line = early_words, *word;

	strscpy(early_words, boot_command_line, sizeof(early_words));
	while ((word = cmdline_next_word(&line)) && strcmp(word, "--"))
		parse_word(word, true);
}

/*
 * The copy of the early pass is cut up once more, because the value that is returned must stay where it is. The last
 * word of that name counts.
 */
const char *cmdline_value(const char *name)
{
	const char *value = NULL, *found;
	char *line = early_words, *word;

	strscpy(early_words, boot_command_line, sizeof(early_words));
	while ((word = cmdline_next_word(&line)) && strcmp(word, "--")) {
		found = param_value(name, word);
		if (found)
			value = found;
	}
	return value;
}

int param_keep(char *to, size_t size, const char *value)
{
	if (strscpy(to, value, size) >= 0)
		return 0;
	*to = '\0';
	return -E2BIG;
}

/*
 * Append to a NULL-terminated list of 32 texts. A variable that is in the environment already is replaced, as HOME=
 * must be.
 */
static void pass_to_init(const char *word)
{
	const char *equals = strchr(word, '=');
	const char **list = equals ? init_envp : init_argv;
	unsigned i;

	for (i = 0; list[i]; i++)
		if (equals && !strncmp(list[i], word, equals - word + 1))
			break;
	if (i < ARRAY_SIZE(init_argv) - 1)
		list[i] = word;
	else
		pr_warn("Kernel command line: too many words for init, '%s' left out\n", word);
}

/* Linux's message, since the word may be a mistyped parameter. `list` has each word behind a blank. */
static void report_unknown(const char *list)
{
	if (*list)
		pr_notice("Unknown kernel command line parameters \"%s\", will be passed to user space.\n", list + 1);
}

/* The "--" of the command line, or its end. Between quotes it is part of a word. */
static const char *find_init_words(const char *line)
{
	bool quoted = false;

	for (const char *at = line; *at; at++) {
		quoted ^= *at == '"';
		if (!quoted && !strncmp(at, "--", 2) && (at == line || isspace(at[-1])) && (!at[2] || isspace(at[2])))
			return at;
	}
	return line + strlen(line);
}

void cmdline_find_more(void)
{
	const struct word_source *source;

	for_each_in_table(word_sources, source)
		source->find();
}

/* The early pass for words that a bootconfig has added. What was given by hand for the same parameter counts alone. */
static void parse_added(const char *words)
{
	const struct boot_param *param;
	size_t size = strlen(words) + 1;
	char *line = memcpy(__va(memblock_alloc(size, 1)), words, size), *word;

	while ((word = cmdline_next_word(&line)) && strcmp(word, "--")) {
		bool by_hand = false;

		for_each_in_table(params, param)
			by_hand |= param->early && param_value(param->name, word) && cmdline_value(param->name);
		if (!by_hand)
			parse_word(word, true);
	}
}

/*
 * What was given by hand comes last, for the last word of a name counts:
 *
 *	KERNEL words of the loader -- INIT words of the loader for init
 */
void cmdline_add(const char *kernel, const char *init)
{
	const char *split = find_init_words(boot_command_line), *rest = *split ? split + 2 : "";
	size_t size = strlen(boot_command_line) + strlen(kernel ?: "") + strlen(init ?: "") + 8;
	char *line;

	if (!kernel && !init)
		return;
	if (kernel)
		parse_added(kernel);
	line = __va(memblock_alloc(size, 8));
	scnprintf(line, size, "%s%.*s%s", kernel ?: "", (int)(split - boot_command_line), boot_command_line,
		  init && !*split ? " " : "");
	if (init || *split)
		scnprintf(line + strlen(line), size - strlen(line), "-- %s%s", init ?: "", rest + (*rest == ' '));
	saved_command_line = line;
}

/* Is it a word that is known to have no effect here? The log says why. */
static bool is_ignored(const char *word)
{
	const struct ignored_words *list;

	for_each_in_table(ignored_words, list)
		for (unsigned i = 0; i < list->nr; i++)
			if (param_value(list->words[i].name, word)) {
				pr_info("Kernel command line: '%s' has no effect: %s\n", word, list->words[i].why);
				return true;
			}
	return false;
}

/* The main pass. A word that was registered for the early pass is known here, too, so that it does not go to init. */
void parse_params(void)
{
	static char unknown[256];
	char *copy = kstrdup(saved_command_line, GFP_KERNEL), *line = copy, *word;
	bool all_init = false;
	size_t len = 0;

	if (!copy)
		panic("No memory for a copy of the command line");
	while ((word = cmdline_next_word(&line))) {
		if (all_init) {
			pass_to_init(word);
		} else if (!strcmp(word, "--")) {
			all_init = true;
		} else if (!parse_word(word, false) && !is_ignored(word)) {
			pass_to_init(word);
			len += scnprintf(unknown + len, sizeof(unknown) - len, " %s", word);
		}
	}
	report_unknown(unknown);
}
