/*
 * getopts OPTIONS NAME [WORD...]: the next option of a script or function (POSIX).
 *
 * $OPTIND is the number of the word to look at, from 1 on, and sh.option_at the place in it, since options may stand
 * together (-ab). An assignment to OPTIND, which begins again, sets the place to 0 (var_store() in vars.c).
 *
 *     $1   -ab      OPTIND 1, option_at 0, then 2
 *     $2   -fFILE   OPTIND 2
 *     $3   word     OPTIND 3: the options end here
 */
#include "sh.h"

/* Writes down where the next call begins, and what this one has found. argument NULL: OPTARG is unset. */
static void found(const char *name, const char *option, const char *argument, int index, size_t at)
{
	var_set_number("OPTIND", index);
	sh.option_at = at;
	if (argument)
		var_set("OPTARG", argument);
	else
		var_unset("OPTARG");
	var_set(name, option);
}

/* The place of an option in the word: where the last call has stopped, or behind its '-'; 0: it is no option. */
static size_t option_place(const char *word)
{
	if (sh.option_at && sh.option_at < strlen(word))
		return sh.option_at;
	return word[0] == '-' && word[1] && strcmp(word, "--");
}

/*
 * With ':' before OPTIONS nothing is printed, and what is wrong comes as NAME ? (unknown) or : (no argument) with the
 * letter in OPTARG. Status 1 at the end of the options, 0 otherwise.
 */
int builtin_getopts(int argc, char **argv)
{
	if (argc < 3 || !var_name_length(argv[2]) || argv[2][var_name_length(argv[2])])
		sh_error("getopts: Usage: getopts OPTIONS NAME [WORD...]");

	const char *options = argv[1], *name = argv[2], *text = var_get("OPTIND"), *word, *known, *argument = NULL;
	char **words = argc > 3 ? argv + 3 : sh.argv, option[2] = "?";
	int n = argc > 3 ? argc - 3 : sh.argc, index;
	bool silent = *options == ':', missing;
	long first;
	size_t at;

	index = text && !vt_number(text, 1, n + 1, &first) ? (int)first : 1;
	word = index <= n ? words[index - 1] : "";
	at = option_place(word);
	if (!at) {
		found(name, "?", NULL, index + !strcmp(word, "--"), 0);
		return 1;
	}
	option[0] = word[at++];
	known = option[0] == ':' ? NULL : strchr(options + silent, option[0]);
	if (!word[at]) {
		index++;
		at = 0;
	}
	if (known && known[1] == ':') {
		/* What follows in the word is the argument, or the next word is. */
		argument = at ? word + at : index <= n ? words[index - 1] : NULL;
		index += argument != NULL;
		at = 0;
	}
	missing = known && known[1] == ':' && !argument;
	if (known && !missing) {
		found(name, option, argument, index, at);
		return 0;
	}
	if (!silent)
		vt_warn("getopts: -%s: %s", option, missing ? "an argument is missing" : "no such option");
	found(name, silent && missing ? ":" : "?", silent ? option : NULL, index, at);
	return 0;
}
