/* Names of groups, events and arguments in a line about dynamic events. */
#include <lib/errno.h>
#include <lib/string.h>

#include "command.h"

bool dyn_name_is_good(const char *name, bool dash)
{
	if (!isalpha(*name) && *name != '_' && !(dash && *name == '-'))
		return false;
	while (*++name)
		if (!isalnum(*name) && *name != '_' && !(dash && *name == '-'))
			return false;
	return true;
}

/* The name of a group and that of an event have at most DYN_NAME_MAX - 1 characters. */
int dyn_parse_name(struct dyn_command *c, char *name, const char **group, const char **event)
{
	char *slash = strchr(name, '/') ?: strchr(name, '.');

	if (slash) {
		if (slash == name)
			return dyn_refuse(c, name, "Group name is not specified");
		if (slash - name + 1 > DYN_NAME_MAX)
			return dyn_refuse(c, name, "Group name is too long");
		*slash = '\0';
		if (!dyn_name_is_good(name, true))
			return dyn_refuse(c, name, "Group name must follow the same rules as C identifiers");
		*group = name;
		name = slash + 1;
	}
	if (!*name && slash) {
		*event = NULL;
		return 0;
	}
	if (!*name)
		return dyn_refuse(c, name, "Event name is not specified");
	if (strlen(name) >= DYN_NAME_MAX)
		return dyn_refuse(c, name, "Event name is too long");
	if (!dyn_name_is_good(name, false))
		return dyn_refuse(c, name, "Event name must follow the same rules as C identifiers");
	*event = name;
	return 0;
}

int dyn_parse_event(struct dyn_command *c, const char **group, const char **event)
{
	char *colon = strchr(c->words[0], ':');

	return colon ? dyn_parse_name(c, colon + 1, group, event) : 0;
}
