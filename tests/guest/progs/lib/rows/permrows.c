/* Runs a table of who may do what. */
#include <rows/permrows.h>

static const struct perm_row *row;
static bool as_user;

static void one_call(void)
{
	int wanted = as_user ? row->user : row->root, got;

	if (as_user)
		become_user(PERM_USER);
	errno = 0;
	got = row->call() == -1 ? errno : 0;
	if (got == wanted)
		return;
	printf("  %s as %s: %s, not %s\n", row->name, as_user ? "uid 1000" : "root", strerror(got), strerror(wanted));
	check_failures++;
}

/* As uid 1000 first: what root then does must not have made it easier. */
int perm_main(const struct perm_row *rows, size_t n)
{
	int bad = 0;

	for (size_t i = 0; i < n; i++) {
		row = &rows[i];
		as_user = true;
		bad += check_in_child(one_call) != 0;
		as_user = false;
		bad += check_in_child(one_call) != 0;
	}
	printf("%s: %d of %d calls as wanted\n", vt_name, 2 * (int)n - bad, 2 * (int)n);
	return vt_finish(bad ? 1 : 0);
}
