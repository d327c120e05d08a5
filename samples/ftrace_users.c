/*
 * Users of function tracing that are made on request: commands written to debugfs's ftrace_sample/users make four of
 * them do all that <trace/ftrace.h> offers, so that it can be tried out and measured. N is 0 to 3:
 *
 * 	N flags NUMBER		FTRACE_OPS_FL_*, of a user that is off
 * 	N does WORD		count; inner: count, and call users_inner, which is traced; guarded: the same between
 * 				ftrace_test_recursion_trylock and _unlock; replace: let users_other run
 * 	N filter|notrace GLOB	add to that set; N reset: empty both; N global: go by set_ftrace_filter
 * 	N ip [!]NAME		add a function to the filter by its address, or take it away
 * 	N on, N off		register, unregister; N call: call users_target
 *
 * Reading shows a line for each: calls, how many were turned away by the trylock, came with registers, or came when the
 * user was off already, and the last call.
 */
#include <fs/libfs.h>
#include <fs/seq_file.h>
#include <kernel/ksyms.h>
#include <lib/errno.h>
#include <lib/string.h>
#include <sched/mutex.h>
#include <trace/ftrace.h>

/* Locks: m users_mutex; a written at any time by calls. */
struct user {
	struct ftrace_ops ops;
	bool off;			       /* [m] */
	unsigned long calls, away, regs, late; /* [a] */
	unsigned long ip, parent_ip;	       /* [a] */
};

static DEFINE_MUTEX(users_mutex);
/*
 * Functions with sites, for the users to be called from. Each changes one word, so that calls can be seen without a
 * trace.
 */
static volatile int users_word;

static noinline void users_inner(void)
{
	users_word++;
}

static noinline void users_target(void)
{
	users_word += 2;
}

static noinline void users_other(void)
{
	users_word = -1;
}

/* ---- What users do */

/*
 * The callbacks are notrace. They run in any context, on several CPUs at once, so counters are changed atomically; ip
 * and parent_ip are those of some recent call.
 */
static void notrace count_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			       struct ftrace_regs *fregs)
{
	struct user *user = op->private;

	__atomic_fetch_add(&user->calls, 1, __ATOMIC_RELAXED);
	if (unlikely(READ_ONCE(user->off)))
		__atomic_fetch_add(&user->late, 1, __ATOMIC_RELAXED);
	if (ftrace_get_regs(fregs))
		__atomic_fetch_add(&user->regs, 1, __ATOMIC_RELAXED);
	user->ip = ip;
	user->parent_ip = parent_ip;
}

/*
 * Calls a traced function from a callback. If nothing stopped it, the callback would be called again by that, without
 * end.
 */
static void notrace inner_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			       struct ftrace_regs *fregs)
{
	count_call(ip, parent_ip, op, fregs);
	users_inner();
}

/*
 * The way for a callback that protects itself, as a user with FTRACE_OPS_FL_RECURSION must that calls what is traced.
 * What it has given back it can have again.
 */
static void notrace guarded_call(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
				 struct ftrace_regs *fregs)
{
	struct user *user = op->private;
	int bit = ftrace_test_recursion_trylock(ip, parent_ip);

	if (bit >= 0) {
		inner_call(ip, parent_ip, op, fregs);
		ftrace_test_recursion_unlock(bit);
		bit = ftrace_test_recursion_trylock(ip, parent_ip);
	}
	if (bit >= 0)
		ftrace_test_recursion_unlock(bit);
	else
		__atomic_fetch_add(&user->away, 1, __ATOMIC_RELAXED);
}

/* Live patching in one line: the call goes on in another function. Needs FTRACE_OPS_FL_IPMODIFY and registers. */
static void notrace ftrace_users_replace(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
					 struct ftrace_regs *fregs)
{
	count_call(ip, parent_ip, op, fregs);
	if (ftrace_get_regs(fregs)) /* the flags may say otherwise */
		ftrace_regs_set_instruction_pointer(fregs, (unsigned long)users_other);
}

static const struct {
	const char *name;
	ftrace_func_t func;
} funcs[] = {
	{"count", count_call},
	{"inner", inner_call},
	{"guarded", guarded_call},
	{"replace", ftrace_users_replace},
};

/* All begin off, counting, with empty sets: an empty filter means every function. */
#define USER(n)                                                                                   \
	{                                                                                         \
		.ops = {.func = count_call, .name = "user" #n, .private = &users[n]}, .off = true \
	}
static struct user users[] = {USER(0), USER(1), USER(2), USER(3)};

/* ---- Commands */

/* -EBUSY while the user is on: the callback of a registered user may not change. */
static int set_func(struct user *user, const char *name)
{
	if (!user->off)
		return -EBUSY;
	for (unsigned i = 0; i < ARRAY_SIZE(funcs); i++) {
		if (strcmp(name, funcs[i].name) != 0)
			continue;
		user->ops.func = funcs[i].func;
		return 0;
	}
	return -EINVAL;
}

static int set_flags(struct user *user, const char *number)
{
	unsigned long flags;
	int ret = kstrtoul(number, 0, &flags);

	if (!ret && !user->off)
		ret = -EBUSY;
	if (!ret)
		user->ops.flags = flags;
	return ret;
}

/* An unknown name gives address 0, which ftrace_set_filter_ip() refuses. */
static int set_ip(struct user *user, const char *name)
{
	bool remove = *name == '!';
	unsigned long ip = kallsyms_lookup_name(name + remove);

	return ftrace_set_filter_ip(&user->ops, ip, remove, 0);
}

static int set_filter(struct user *user, char *pattern)
{
	return ftrace_set_filter(&user->ops, (unsigned char *)pattern, strlen(pattern), 0);
}

static int set_notrace(struct user *user, char *pattern)
{
	return ftrace_set_notrace(&user->ops, (unsigned char *)pattern, strlen(pattern), 0);
}

/* NULL with `reset` empties a set. */
static int reset(struct user *user)
{
	return ftrace_set_filter(&user->ops, NULL, 0, 1) ?: ftrace_set_notrace(&user->ops, NULL, 0, 1);
}

/*
 * `off` is cleared first and set last. A call that finds it set came outside of the time in which it may come, and is
 * counted as late: there must be none.
 */
static int switch_on(struct user *user)
{
	int ret;

	user->calls = user->away = user->regs = user->late = 0;
	WRITE_ONCE(user->off, false);
	ret = register_ftrace_function(&user->ops);
	if (ret && !(user->ops.flags & FTRACE_OPS_FL_ENABLED))
		WRITE_ONCE(user->off, true);
	return ret;
}

static int switch_off(struct user *user)
{
	int ret = unregister_ftrace_function(&user->ops);

	if (!ret)
		WRITE_ONCE(user->off, true);
	return ret;
}

/* Verbs without a parameter come first. users_mutex held. 0 or -errno. */
static int command(struct user *user, const char *verb, char *arg)
{
	if (!strcmp(verb, "on"))
		return switch_on(user);
	if (!strcmp(verb, "off"))
		return switch_off(user);
	if (!strcmp(verb, "reset"))
		return reset(user);
	if (!strcmp(verb, "call")) {
		users_target();
		return 0;
	}
	if (!strcmp(verb, "global")) {
		ftrace_ops_set_global_filter(&user->ops);
		return 0;
	}
	if (!arg)
		return -EINVAL;
	if (!strcmp(verb, "flags"))
		return set_flags(user, arg);
	if (!strcmp(verb, "does"))
		return set_func(user, arg);
	if (!strcmp(verb, "filter"))
		return set_filter(user, arg);
	if (!strcmp(verb, "notrace"))
		return set_notrace(user, arg);
	return strcmp(verb, "ip") ? -EINVAL : set_ip(user, arg);
}

/* ---- File */

static int users_show(struct seq_file *m, void *unused)
{
	for (const struct user *u = users; u < users + ARRAY_SIZE(users); u++)
		seq_printf(m, "%s %s flags %x calls %lu away %lu regs %lu late %lu last %ps <-%ps\n", u->ops.name,
			   u->off ? "off" : "on", u->ops.flags, u->calls, u->away, u->regs, u->late, (void *)u->ip,
			   (void *)u->parent_ip);
	seq_printf(m, "word %d\n", users_word);
	return 0;
}

/* "N VERB [PARAMETER]": the text is cut where it lies. */
static int users_store(char *text, void *data)
{
	unsigned nr = (unsigned)*text - '0';
	char *rest = text, *verb;
	int ret;

	if (nr >= ARRAY_SIZE(users) || rest[1] != ' ')
		return -EINVAL;
	rest += 2;
	verb = strsep(&rest, " ");
	mutex_lock(&users_mutex);
	ret = command(&users[nr], verb, rest);
	mutex_unlock(&users_mutex);
	return ret;
}

static const struct text_file users_file = {
	.path = "ftrace_sample/users", .mode = 0600, .show = users_show, .store = users_store};
REGISTER_DEBUGFS(users_file);
