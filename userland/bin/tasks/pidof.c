/*
 * pidof NAME...: processes by name.
 *
 * Status 1 when there is none. Left out: -s, -o, -x.
 */
#include <vt.h>

struct pidof {
	const char *name;
	const char *between;
};

/*
 * For vt_each_proc(). By the kernel's name (15 bytes) or the last part of argv[0], which is whole.
 */
static void look(const struct vt_proc *p, void *arg)
{
	struct pidof *want = arg;
	size_t n = strcspn(p->args, " ");
	char first[sizeof(p->args)];

	memcpy(first, p->args, n);
	first[n] = '\0';
	if (strcmp(p->comm, want->name) && strcmp(vt_basename(first), want->name))
		return;
	printf("%s%d", want->between, p->pid);
	want->between = " ";
}

int main(int argc, char **argv)
{
	struct vt_options o = {.usage = "pidof NAME...", .options = "", .bad_status = 2};
	struct pidof want = {.between = ""};

	vt_operands(&o, argc, argv, 1, argc);
	for (; o.index < argc; o.index++) {
		want.name = argv[o.index];
		if (vt_each_proc(look, &want) < 0)
			vt_die_errno(2, "/proc");
	}
	if (*want.between)
		printf("\n");
	return vt_finish(*want.between ? 0 : 1);
}
