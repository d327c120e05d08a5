"""What may happen to a module between its first step and its last: what is used early, what fails, what is left behind."""

import re

from module_guest import CRASH, DMESG, guest, log, one_module, samples  # noqa: F401
from stories import story
from test_modules import make

CD = "cd /sys/kernel/tracing\n"
HEAD = """
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/kmod.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>
MODULE_LICENSE("GPL");
"""
PLAIN = """
static int __init NAME_init(void) { return 0; }
module_init(NAME_init);
static void __exit NAME_exit(void) { }
module_exit(NAME_exit);
"""


def build(guest, folder, name, source):  # noqa: F811
    return one_module(guest.arch, folder, name, HEAD + source.replace("NAME", name))


def test_commands_about_events_leave_with_the_module(guest):  # noqa: F811
    """A function of the module switches an event; the event is as it was before when the module has gone."""
    out = guest(
        CD
        + "for c in enable_event disable_event; do insmod /hello_1.ko; echo init_module:$c:sched:sched_switch > set_ftrace_filter\n"
        "cat events/sched/sched_switch/enable; rmmod -fv hello_1; echo $?; cat events/sched/sched_switch/enable; done\n"
        "mkdir instances/x; rmdir instances/x; grep -c : set_ftrace_filter; true",
        "hello_1",
        timeout=60,
    )
    assert log(out) == ["0*", "rmmod hello_1", "0", "0"] * 2 + ["0"], out


LEAVES = """
#include <linux/completion.h>
static DECLARE_COMPLETION(told);
static int leaves_set(const char *val, const struct kernel_param *kp)
{
	complete(&told);
	return 0;
}
static const struct kernel_param_ops ops = {.set = leaves_set};
module_param_cb(go, &ops, NULL, 0200);
static int __init leaves_init(void) { return 0; }
module_init(leaves_init);
static void __exit leaves_exit(void)
{
	wait_for_completion(&told);
}
module_exit(leaves_exit);
"""


def test_functions_of_a_module_that_is_going_are_not_chosen(guest, tmp_path):  # noqa: F811
    """A command on one would stay when the module has gone, with its event; in a filter of graphs its address would."""
    folder = build(guest, tmp_path, "leaves", LEAVES)
    out = guest(
        CD
        + "insmod /leaves.ko; rmmod leaves & until grep -q going /sys/module/leaves/initstate; do :; done; echo leaves_set > set_graph_function\n"
        "for c in traceoff enable_event:sched:sched_switch; do echo leaves_set:$c > set_ftrace_filter; echo $?; done 2> /dev/null\n"
        "grep -c leaves set_graph_function set_ftrace_filter; cat events/sched/sched_switch/enable; echo 1 > /sys/module/leaves/parameters/go; wait $!; echo $?",
        "leaves",
        folder=folder,
        timeout=60,
    )
    assert log(out) == ["1", "1", "set_graph_function:0", "set_ftrace_filter:0", "0", "0"], out


LATE = """
static int number;
static void late_free(void *arg)
{
	pr_info("late: freed\\n");
}
static int late_set(const char *val, const struct kernel_param *kp)
{
	return param_set_int(val, kp);
}
static const struct kernel_param_ops ops = {.set = late_set, .get = param_get_int, .free = late_free};
module_param_cb(number, &ops, &number, 0644);
"""


def test_code_that_runs_late_is_not_traced(guest, tmp_path):  # noqa: F811
    """A parameter's `free` runs when the records of the module's sites have gone, and two users traced it."""
    folder = build(guest, tmp_path, "late", LATE + PLAIN)
    out = guest(
        CD + "mkdir instances/x; insmod /late.ko; for d in . instances/x; do echo ':mod:late' > $d/set_ftrace_filter\n"
        "echo function > $d/current_tracer; done; echo 5 > /sys/module/late/parameters/number; grep -c late_free enabled_functions\n"
        "dmesg -c > /dev/null; rmmod late; echo $?; cat trace instances/x/trace | grep -o 'late_[a-z]*'; " + DMESG,
        "late",
        folder=folder,
        timeout=60,
    )
    assert log(out) == ["1", "0", *["late_set", "late_exit"] * 2, "late: freed"], out


def test_call_sites_are_there_before_all_else(guest):  # noqa: F811
    """Who makes a part of the module known is told after those that its code needs, and hears first that it goes. Until
    then the module is UNFORMED, and nobody gets a reference to put a probe into it."""
    first = ["sites_coming", "formats_coming", "jumps_coming"]
    known = ["sysfs_coming", "events_coming"]
    going = ["sysfs_going", "events_going", "sites_going", "jumps_going"]
    state = "state=+72($arg1):u32"  # behind the name and two pointers of struct module
    out = guest(
        CD + f"for f in {' '.join(first + known + going)}; do echo p:$f $f '{state}' >> dynamic_events; done\n"
        "echo 1 > events/kprobes/enable; insmod /trace_events_sample.ko; rmmod trace_events_sample; echo 0 > tracing_on; cat trace",
        "trace_events_sample",
        timeout=60,
    )
    order = re.findall(r": (\w+): \(.*state=(\d)", out)
    assert sorted(order[:3]) == sorted((name, "3") for name in first), out
    assert sorted(order[3:5]) == sorted((name, "1") for name in known), out
    assert sorted(order[5:7]) == sorted((name, "2") for name in going[:2]), out
    assert sorted(order[7:]) == sorted((name, "2") for name in going[2:]), out


# Its parameter is set when somebody has opened the device, and refused then.
OPENED = """
static bool is_open;
static int opened_open(struct inode *inode, struct file *f)
{
	WRITE_ONCE(is_open, true);
	return 0;
}
static ssize_t read_word(struct file *f, char __user *buf, size_t n, loff_t *pos)
{
	return simple_read_from_buffer(buf, n, pos, "still here\\n", 11);
}
static const struct file_operations fops = {.owner = THIS_MODULE, .open = opened_open, .read = read_word};
static struct miscdevice misc = {.minor = MISC_DYNAMIC_MINOR, .name = "opened", .fops = &fops};
static int opened_set(const char *val, const struct kernel_param *kp)
{
	int err = misc_register(&misc);

	if (err)
		return err;
	while (!READ_ONCE(is_open))
		msleep(10);
	misc_deregister(&misc);
	return -ERANGE;
}
static const struct kernel_param_ops ops = {.set = opened_set};
module_param_cb(number, &ops, NULL, 0);
"""


def test_a_bad_parameter_waits_for_open_files(guest, tmp_path):  # noqa: F811
    """As an init that fails: nobody gets a reference any more, and those who have one keep the module's code."""
    folder = build(guest, tmp_path, "opened", OPENED + PLAIN)
    out = guest(
        "dmesg -c > /dev/null; echo 1 > /sys/kernel/tracing/events/module/enable; insmod /opened.ko number=1 & job=$!; "
        "while ! [ -e /dev/opened ]; do sleep 0.05; done; exec 5< /dev/opened\n"
        "until grep -q Unloading /proc/modules; do usleep 1000; done; cut -d' ' -f1,5 /proc/modules; cat <&5\n"
        "exec 5<&-; wait $job; echo insmod $?; cat /proc/modules; grep -c 'module_load\\|module_free' /sys/kernel/tracing/trace\n"
        + DMESG,
        "opened",
        folder=folder,
        timeout=60,
    )
    lines = log(out)
    assert lines[:2] == ["opened Unloading", "still here"], out
    assert lines[lines.index("insmod 1") + 1] == "0", out  # no event without its counterpart
    assert "opened: it failed, and 1 open files or others hold it: it goes when they let go" in lines, out
    assert not re.search(CRASH, out), out


def test_a_kprobe_event_and_a_module_do_not_cross(guest):  # noqa: F811
    """The place is looked up and the probe is put in while no module comes or goes."""
    out = guest(
        CD
        + "echo 'f:lock mutex_lock lock=$arg1:symbol' > dynamic_events; echo $$ > set_event_pid; echo 1 > events/fprobes/lock/enable\n"
        "echo 'p:seen schedule' >> dynamic_events; echo 0 > events/fprobes/lock/enable\n"
        "grep -o 'lock=[a-z_]*_mutex' trace | grep -A2 dyn_event_mutex",
    )
    assert log(out)[:3] == ["lock=dyn_event_mutex", "lock=module_mutex", "lock=event_mutex"], out


BRIEF = """
static char *who __initdata = "nobody";
module_param(who, charp, 0);
static char *list[2] __initdata = {"a", "b"};
static int listed __initdata;
module_param_array(list, charp, &listed, 0);
static char *kept = "kept";
module_param(kept, charp, 0444);
static int early __initdata = 3;
module_param(early, int, 0644); /* a mistake: its file would read what lies there next */
static int __init brief_init(void)
{
	pr_info("brief: %s %s %s %s\\n", who, list[0], list[1], kept);
	return 0;
}
module_init(brief_init);
static void __exit brief_exit(void) { }
module_exit(brief_exit);
"""


def test_parameters_in_the_memory_of_init(guest, tmp_path):  # noqa: F811
    """Their texts are given back when that memory goes, and not looked for when the module goes."""
    folder = build(guest, tmp_path, "brief", BRIEF)
    out = guest(
        "dmesg -c > /dev/null; insmod /brief.ko; rmmod brief; echo $?; insmod /brief.ko who=me list=x,y kept=z early=4\n"
        "ls /sys/module/brief/parameters; cat /sys/module/brief/parameters/kept; rmmod brief; echo $?; insmod /brief.ko who=me list=x,y,z; echo $?; "
        + DMESG,
        "brief",
        folder=folder,
        timeout=60,
    )
    lines = [line for line in log(out) if not line.startswith("insmod:")]
    assert lines[:5] == ["0", "kept", "z", "0", "1"], out
    assert [x for x in lines[5:] if "file" not in x][:2] == ["brief: nobody a b kept", "brief: me x y z"], out
    assert "brief: parameter 'early' is __initdata: it has no file" in lines and not re.search(CRASH, out), out


CALLS = """
static int calls_set(const char *val, const struct kernel_param *kp)
{
	return request_module("%s", val);
}
static const struct kernel_param_ops ops = {.set = calls_set};
module_param_cb(need, &ops, NULL, 0200);
"""


def test_a_parameter_may_ask_for_a_module(guest, tmp_path):  # noqa: F811
    """No lock that loading takes is held meanwhile, by insmod as by a write to the parameter's file."""
    folder = build(guest, tmp_path, "calls", CALLS + PLAIN)
    one_module(
        guest.arch,
        tmp_path,
        "other",
        '#include <linux/module.h>\nMODULE_LICENSE("GPL");\nstatic int n;\n'
        "module_param(n, int, 0644);\n" + PLAIN.replace("NAME", "other"),
    )
    out = guest(
        "lib=/lib/modules/$(uname -r); mkdir -p $lib; cp /other.ko $lib; echo other.ko: > $lib/modules.dep\n"
        "insmod /calls.ko need=other; echo $?; cut -d' ' -f1 /proc/modules; rmmod other\n"
        "echo other > /sys/module/calls/parameters/need; echo $?; cut -d' ' -f1 /proc/modules; cat /sys/module/other/parameters/n",
        "calls",
        "other",
        folder=folder,
        timeout=60,
    )
    assert log(out) == ["0", "other", "calls", "0", "other", "calls", "0"], out


LOOKS = """
static int looks_set(const char *val, const struct kernel_param *kp)
{
	static char *argv[] = {"/bin/grep", "-qE", "coming|live", "/sys/module/looks/initstate", NULL};
	static char *envp[] = {NULL};

	return call_usermodehelper(argv[0], argv, envp, UMH_WAIT_PROC | UMH_KILLABLE);
}
static const struct kernel_param_ops ops = {.set = looks_set};
module_param_cb(look, &ops, NULL, 0200);
static unsigned count;
module_param(count, uint, 0644);
"""


def test_what_is_known_of_a_module_while_a_parameter_is_set(guest, tmp_path):  # noqa: F811
    """A program that the `set` waits for reads it: no lock of the parameters keeps it out. And what a number must be."""
    folder = build(guest, tmp_path, "looks", LOOKS + PLAIN)
    out = guest(
        "insmod /looks.ko look=1; echo $?; cd /sys/module/looks/parameters; echo 1 > look; echo $?\n"
        "for n in 4294967295 -1 4294967296 5x; do echo $n > count; done 2>&1; cat count; cd /; rmmod looks; echo $?",
        "looks",
        folder=folder,
        timeout=60,
    )
    lines = [line.split(": ")[-1] for line in log(out)]
    invalid, range_ = "Invalid argument", "Numerical result out of range"
    assert lines == ["0", "0", invalid, range_, invalid, "4294967295", "0"], out


def test_a_filter_by_module_that_is_taken_back(guest):  # noqa: F811
    """In both files, whether there are functions in the set or not; what is not there is an error."""
    out = guest(
        CD
        + "for f in set_ftrace_filter set_ftrace_notrace; do echo ':mod:hello_1' > $f; tail -1 $f; echo '!:mod:hello_1' >> $f\n"
        "echo $?; tail -1 $f; echo '!:mod:hello_1' >> $f; echo $?; insmod /hello_1.ko; echo '!:mod:hello_1' >> $f; echo $?\n"
        "rmmod hello_1; done 2>/dev/null",
        "hello_1",
        timeout=60,
    )
    empty = ["#### all functions enabled ####", "#### no functions disabled ####"]
    assert log(out) == ["*:mod:hello_1", "0", empty[0], "1", "0", "*:mod:hello_1", "0", empty[1], "1", "0"], out


# Its init says that it runs, and ends when it is told to.
LONG = """
static int inside, go;
module_param(inside, int, 0444);
module_param(go, int, 0644);
int long_value __initdata = 1;
static int __init long_init(void)
{
	WRITE_ONCE(inside, 1);
	while (!READ_ONCE(go))
		msleep(10);
	return 0;
}
module_init(long_init);
static void __exit long_exit(void) { }
module_exit(long_exit);
"""


def test_what_knows_of_init_forgets_it(guest, tmp_path):  # noqa: F811
    """A command, a watch and a probe of what goes when init has returned: each is taken away, and comes back with it."""
    folder = build(guest, tmp_path, "long", LONG)
    out = guest(
        CD + story("module_life"),
        "long",
        folder=folder,
        timeout=60,
    )
    assert log(out) == ["0*", "1", "0", "0", "2"], out


def test_a_module_that_comes_while_a_filter_is_written(guest):  # noqa: F811
    """The file is closed when the module is there: its functions are the filter, and not all functions."""
    out = guest(
        CD
        + "exec 3> set_ftrace_filter; echo ':mod:hello_1' >&3; insmod /hello_1.ko; exec 3>&-; cat set_ftrace_filter\n"
        "echo function > current_tracer; grep -vc hello_1 enabled_functions; rmmod hello_1; cat set_ftrace_filter",
        "hello_1",
        timeout=60,
    )
    assert log(out) == ["init_module [hello_1]", "cleanup_module [hello_1]", "0"], out


GIVES = """
int given = 7;
EXPORT_SYMBOL(given);
static int go;
module_param(go, int, 0644);
static int __init gives_init(void)
{
	while (!READ_ONCE(go))
		msleep(10);
	return 0;
}
module_init(gives_init);
static void __exit gives_exit(void) { }
module_exit(gives_exit);
"""
TAKES = """
extern int given;
static int __init takes_init(void)
{
	pr_info("takes: %d\\n", given);
	return 0;
}
module_init(takes_init);
"""


def test_a_symbol_of_a_module_that_is_coming_is_waited_for(guest, tmp_path):  # noqa: F811
    """And one that has no exit shows that it stays."""
    for name, source in (("gives", GIVES), ("takes", TAKES)):
        (tmp_path / f"{name}.c").write_text(HEAD + source)
    status, said = make(tmp_path, guest.arch, "W=1", objects="gives.o takes.o")
    assert status == 0 and "warning" not in said, said
    out = guest(
        "dmesg -c > /dev/null; insmod /gives.ko & gives=$!; go=/sys/module/gives/parameters/go; until [ -e $go ]; do usleep 1000; done\n"
        "insmod /takes.ko & takes=$!; until grep -q module_wait_for_change /proc/$takes/stack; do usleep 1000; done; echo 1 > $go\n"
        "wait $takes; echo $?; wait $gives; echo $?; dmesg | grep -o 'takes: 7'; cut -d' ' -f1,3,4 /proc/modules; lsmod | grep ^takes",
        "gives",
        "takes",
        folder=tmp_path,
        timeout=60,
    )
    lines = log(out)
    assert lines[:3] == ["0", "0", "takes: 7"], out
    assert lines[3:5] == ["takes 0 [permanent],", "gives 1 takes,"], out
    assert re.fullmatch(r"takes +\d+  0 \[permanent\]", lines[5]), out


def test_what_is_no_file_or_empty_is_no_module(guest):  # noqa: F811
    """EINVAL, as on Linux; a short file is ENOEXEC."""
    out = guest(": > /empty; echo short > /short; for f in /empty /dev/null /tmp /short; do insmod $f; done 2>&1; true")
    invalid, format_ = "Invalid argument; dmesg says what is wrong", "Invalid module format; dmesg says what is wrong"
    assert log(out) == [
        f"insmod: could not insert {f}: {why}"
        for f, why in (("/empty", invalid), ("/dev/null", invalid), ("/tmp", invalid), ("/short", format_))
    ], out
