/* Names and parameters of modules, for insmod, modprobe and rmmod, and the modules in the kernel. */
#include <vt.h>
#include <vt_module.h>
#include <string.h>

char *vt_module_name(char *path)
{
	char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t len = strlen(name);

	if (len > 3 && !strcmp(name + len - 3, ".ko"))
		name[len - 3] = '\0';
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	return name;
}

/*
 * Words of a command line as the one text that init_module(2) takes. A value with a space gets quotes, in which the
 * kernel keeps it together. NULL: no memory. The caller frees it.
 */
char *vt_module_params(char **words, int n)
{
	size_t size = 1;
	char *text, *to;

	for (int i = 0; i < n; i++)
		size += strlen(words[i]) + 3;
	text = to = malloc(size);
	for (int i = 0; text && i < n; i++) {
		char *value = strchr(words[i], '=');
		bool quote = value && strchr(value, ' ') && !strchr(value, '"');

		if (quote)
			to += sprintf(to, "%.*s\"%s\" ", (int)(value + 1 - words[i]), words[i], value + 1);
		else
			to += sprintf(to, "%s ", words[i]);
	}
	if (text)
		*to = '\0';
	return text;
}

const char *vt_module_error(void)
{
	return errno == ENOSYS ? "this kernel has no modules: it was built without kernel/module" : strerror(errno);
}

/* "NAME SIZE REFS USERS ...": users are "a,b,", or "-" when there are none. */
bool vt_next_module(struct vt_lines *lines, struct vt_module *m)
{
	char *line, **const words[] = {&m->name, &m->size, &m->refs, &m->users};

	if (!vt_line(lines, &line, NULL))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		*words[i] = strsep(&line, " ") ?: "";
	if (*m->users)
		m->users[strlen(m->users) - 1] = '\0';
	return true;
}
