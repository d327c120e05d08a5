/*
 * Programs that begin with `#!`. The interpreter that the first line names runs in place of the script, with the
 * script's path as an argument:
 *
 *     ./hello a b          whose first line is  #!/bin/sed -f
 *     /bin/sed -f ./hello a b
 *
 * argv[0] goes, the three new strings come in front of the rest. They are kept in bprm->prefix, because the pages of
 * strings can only grow at their end. An interpreter may be a script again, MAX_SCRIPT_DEPTH times.
 */
#include <fs/vfs.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <mm/page.h>
#include <mm/slab.h>
#include <proc/exec.h>
#include <uapi/fcntl.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * A first line that is longer than the buffer: its argument may be cut short, since the interpreter can read the script
 * itself, but a path cut short would be another program. So the path must end within the buffer. The end of what is
 * taken for the line, or NULL.
 */
static char *cut_line(struct binprm *bprm, const char *p)
{
	char *last = bprm->buf + BINPRM_BUF_SIZE - 1;

	while (p <= last && is_blank(*p))
		p++;
	while (p <= last && !is_blank(*p))
		p++;
	return p <= last ? last : NULL;
}

/*
 * Cut "#! interpreter [argument]" out of the first line, which is changed for it. As in Linux the argument goes to
 * the end of the line, with the blanks inside. 0 or -ENOEXEC.
 */
static int parse_line(struct binprm *bprm, char **interp, char **arg)
{
	char *end, *p = bprm->buf + 2;

	end = memchr(p, '\n', BINPRM_BUF_SIZE - 2);
	if (!end)
		end = memchr(p, '\0', BINPRM_BUF_SIZE - 2);
	if (!end)
		end = cut_line(bprm, p);
	if (!end)
		return -ENOEXEC;
	while (end > p && is_blank(end[-1]))
		end--;
	*end = '\0';
	while (is_blank(*p))
		p++;
	if (!*p)
		return -ENOEXEC;
	*interp = p;
	p += strcspn(p, " \t");
	*arg = NULL;
	if (*p) {
		*p++ = '\0';
		while (is_blank(*p))
			p++;
		*arg = p;
	}
	return 0;
}

/*
 * Put a kmalloc'ed text in front of the argument list, which owns it from now on. NULL means that the caller's copy
 * failed: -ENOMEM. MAX_SCRIPT_DEPTH bounds the number of texts, so there is always a place.
 */
static int push_prefix(struct binprm *bprm, char *text)
{
	if (!text)
		return -ENOMEM;
	memmove(&bprm->prefix[1], &bprm->prefix[0], bprm->nr_prefix * sizeof(text));
	bprm->prefix[0] = text;
	bprm->nr_prefix++;
	return 0;
}

/* Remove argv[0]: it was the program's name, and the name of the interpreter takes its place. */
static void drop_argv0(struct binprm *bprm)
{
	if (bprm->nr_prefix) {
		kfree(bprm->prefix[0]);
		memmove(&bprm->prefix[0], &bprm->prefix[1], --bprm->nr_prefix * sizeof(bprm->prefix[0]));
	} else {
		/* argv[0] is the first string in the pages; it may be longer than a page. */
		size_t n = 0;

		while (bprm->page[n / PAGE_SIZE][n % PAGE_SIZE])
			n++;
		bprm->skip = n + 1;
	}
}

/*
 * Change the arguments and the file of this exec, and begin the search for a format again. The interpreter's file
 * replaces the script's, so set-user-id bits of a script have no effect. 0, or -errno: -ENOEXEC when it is no script,
 * -ELOOP when interpreters are scripts too often, -ENOENT when the interpreter would find no script under its name.
 */
static int load_script(struct binprm *bprm)
{
	char *interp, *arg, *script;
	struct file *file;
	int err;

	if (bprm->buf[0] != '#' || bprm->buf[1] != '!')
		return -ENOEXEC;
	if (bprm->depth++ >= MAX_SCRIPT_DEPTH)
		return -ELOOP;
	err = parse_line(bprm, &interp, &arg);
	if (err)
		return err;
	if (bprm->inaccessible)
		return -ENOENT;
	script = kstrdup(bprm->interp, GFP_KERNEL); /* before drop_argv0, which may free it */
	drop_argv0(bprm);
	err = push_prefix(bprm, script);
	if (!err && arg)
		err = push_prefix(bprm, kstrdup(arg, GFP_KERNEL));
	if (!err)
		err = push_prefix(bprm, kstrdup(interp, GFP_KERNEL));
	if (err)
		return err;
	bprm->interp = bprm->prefix[0];
	file = open_exec(AT_FDCWD, interp, 0);
	if (IS_ERR(file))
		return PTR_ERR(file);
	close_exec(bprm->file);
	bprm->file = file;
	return search_binary_handler(bprm);
}

const struct binfmt script_format = {"script", load_script};
