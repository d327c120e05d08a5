/* Programs that begin with `#!`: the interpreter named there runs, with the script's path as its argument. */
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

/* Cut "#! interpreter [one argument]" out of the first line. The argument goes to the end of the line, as in
 * Linux. */
static int parse_line(struct binprm *bprm, char **interp, char **arg)
{
	char *end, *p = bprm->buf + 2;

	end = memchr(p, '\n', BINPRM_BUF_SIZE - 2);
	if (!end)
		end = memchr(p, '\0', BINPRM_BUF_SIZE - 2);
	if (!end)
		return -ENOEXEC; /* the line goes on: a path cut short would be another program */
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

/* Put a kmalloc'ed text in front of the argument list, which takes it over. NULL: the copy failed. */
static int push_prefix(struct binprm *bprm, char *text)
{
	if (!text)
		return -ENOMEM;
	memmove(&bprm->prefix[1], &bprm->prefix[0], bprm->nr_prefix * sizeof(text));
	bprm->prefix[0] = text;
	bprm->nr_prefix++;
	return 0;
}

/* argv[0] goes: what was the program's name is now its interpreter's. */
static void drop_argv0(struct binprm *bprm)
{
	if (bprm->nr_prefix) {
		kfree(bprm->prefix[0]);
		memmove(&bprm->prefix[0], &bprm->prefix[1], --bprm->nr_prefix * sizeof(bprm->prefix[0]));
	} else {
		/* It is the first in the pages, and may go over a page's end. */
		size_t n = 0;

		while (bprm->page[n / PAGE_SIZE][n % PAGE_SIZE])
			n++;
		bprm->skip = n + 1;
	}
}

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
	script = kstrdup(bprm->interp, GFP_KERNEL); /* first: it may be what drop_argv0 frees */
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
